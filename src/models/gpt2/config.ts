// config.json of a GPT-2 checkpoint. Fields that are absent or null have the defaults of Hugging Face's GPT2Config.

import { JsonFields } from "../../files/json-fields.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import type { ModelShape } from "../../protocol/model-shape.ts";
import { activationOf, invalid, refuseGiant, refuseQuantised, unsupported } from "../config-fields.ts";
import type { Activation, Matrix } from "../graph.ts";

export interface Gpt2Config {
  readonly shape: ModelShape;
  /** Width of the feed-forward part. */
  readonly nInner: number;
  readonly activation: Activation;
  readonly layerNormEpsilon: number;
  /** Whether attention scores are divided by sqrt(headDim). */
  readonly scaleAttnWeights: boolean;
  /** Whether layer i divides them by i + 1 as well. */
  readonly scaleAttnByInverseLayerIdx: boolean;
  /** Whether the head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
  /** How matrices are stored: [in, out], but [out, in] in GGUF files. */
  readonly matrixLayout: Matrix["layout"];
  readonly eosTokenIds: readonly number[];
}

/** Returns the factor of this layer's attention scores (from 0) before the softmax. */
export function attentionScale(config: Gpt2Config, layer: number): number {
  const scale = config.scaleAttnWeights ? 1 / Math.sqrt(config.shape.headDim) : 1;
  return config.scaleAttnByInverseLayerIdx ? scale / (layer + 1) : scale;
}

/** @throws ChorusError model_invalid or model_unsupported, naming the field */
export function parseGpt2Config(json: unknown): Gpt2Config {
  const fields = new JsonFields(CONFIG_FILE, json);
  refuseUnsupported(fields);

  const hiddenSize = fields.positiveInteger(["n_embd", "hidden_size"], 768);
  const numHeads = fields.positiveInteger(["n_head", "num_attention_heads"], 12);
  if (hiddenSize % numHeads !== 0) throw invalid(`n_embd (${hiddenSize}) must be a multiple of n_head (${numHeads})`);
  const shape: ModelShape = {
    numLayers: fields.positiveInteger(["n_layer", "num_hidden_layers"], 12),
    hiddenSize,
    numHeads,
    numKvHeads: numHeads,
    headDim: hiddenSize / numHeads,
    vocabSize: fields.positiveInteger(["vocab_size"], 50257),
    // n_ctx, which old files have too, is ignored: Hugging Face's GPT-2 takes the context from n_positions alone.
    maxPositions: fields.positiveInteger(["n_positions", "max_position_embeddings"], 1024),
  };
  const nInner = fields.positiveInteger(["n_inner"], 4 * hiddenSize);
  refuseGiant(shape, nInner);
  return {
    shape,
    nInner,
    activation: activationOf(fields, "activation_function", "gelu_new"),
    layerNormEpsilon: fields.positiveNumber("layer_norm_epsilon", 1e-5),
    scaleAttnWeights: fields.boolean("scale_attn_weights", true),
    scaleAttnByInverseLayerIdx: fields.boolean("scale_attn_by_inverse_layer_idx", false),
    tieWordEmbeddings: fields.boolean("tie_word_embeddings", true),
    matrixLayout: fields.string("conv1d_layout", "in-out") === "out-in" ? "out-in" : "in-out",
    eosTokenIds: fields.tokenIds("eos_token_id", [50256]),
  };
}

function refuseUnsupported(fields: JsonFields): void {
  for (const name of ["reorder_and_upcast_attn", "add_cross_attention"]) {
    if (fields.boolean(name, false)) throw unsupported(`${name}: true`);
  }
  refuseQuantised(fields);
}
