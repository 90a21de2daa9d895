// config.json of a GPT-2 checkpoint. Fields that are absent or null have the defaults of Hugging Face's GPT2Config.

import { ChorusError } from "../../protocol/errors.ts";
import { JsonFields } from "../../files/json-fields.ts";

const FILE = "config.json";

/** The tanh form of GELU, or the exact one. */
export type Gpt2Activation = "gelu_tanh" | "gelu_erf";

export interface Gpt2Config {
  readonly vocabSize: number;
  /** Context length: rows of the position embedding. */
  readonly nPositions: number;
  readonly nEmbd: number;
  readonly nLayer: number;
  readonly nHead: number;
  /** nEmbd / nHead */
  readonly headDim: number;
  /** Width of the feed-forward part. */
  readonly nInner: number;
  readonly activation: Gpt2Activation;
  readonly layerNormEpsilon: number;
  /** Whether attention scores are divided by sqrt(headDim). */
  readonly scaleAttnWeights: boolean;
  /** Whether layer i divides them by i + 1 as well. */
  readonly scaleAttnByInverseLayerIdx: boolean;
  /** Whether the head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
  readonly bosTokenId: number | null;
  readonly eosTokenIds: readonly number[];
}

/**
 * Hugging Face's names for the two functions. "gelu_fast" writes sqrt(2/pi) with ten digits, which is the same number
 * in float32; "gelu_pytorch_tanh" and "gelu_accurate" are "gelu_new" computed elsewhere, "gelu_python" is "gelu".
 */
const ACTIVATIONS: ReadonlyMap<string, Gpt2Activation> = new Map([
  ["gelu_new", "gelu_tanh"],
  ["gelu_pytorch_tanh", "gelu_tanh"],
  ["gelu_fast", "gelu_tanh"],
  ["gelu_accurate", "gelu_tanh"],
  ["gelu", "gelu_erf"],
  ["gelu_python", "gelu_erf"],
]);

/** What attention scores of this layer (from 0) are multiplied by before the softmax. */
export function attentionScale(config: Gpt2Config, layer: number): number {
  const scale = config.scaleAttnWeights ? 1 / Math.sqrt(config.headDim) : 1;
  return config.scaleAttnByInverseLayerIdx ? scale / (layer + 1) : scale;
}

/** @throws ChorusError model_invalid for nonsense and model_unsupported for what GPT-2 here does not do, by name. */
export function parseGpt2Config(json: unknown): Gpt2Config {
  const fields = new JsonFields(FILE, json);
  refuseUnsupported(fields);

  const nEmbd = fields.positiveInteger(["n_embd", "hidden_size"], 768);
  const nHead = fields.positiveInteger(["n_head", "num_attention_heads"], 12);
  if (nEmbd % nHead !== 0) {
    throw new ChorusError(
      "model_invalid",
      `config.json: n_embd (${nEmbd}) must be a multiple of n_head (${nHead}).`,
      FILE,
    );
  }
  const activationName = fields.string("activation_function", "gelu_new");
  const activation = ACTIVATIONS.get(activationName);
  if (activation === undefined) {
    throw unsupported(
      `activation_function ${JSON.stringify(activationName)} (known: ${[...ACTIVATIONS.keys()].join(", ")})`,
    );
  }
  const config: Gpt2Config = {
    vocabSize: fields.positiveInteger(["vocab_size"], 50257),
    // n_ctx, which old files have too, is ignored: Hugging Face's GPT-2 takes the context from n_positions alone.
    nPositions: fields.positiveInteger(["n_positions", "max_position_embeddings"], 1024),
    nEmbd,
    nLayer: fields.positiveInteger(["n_layer", "num_hidden_layers"], 12),
    nHead,
    headDim: nEmbd / nHead,
    nInner: fields.positiveInteger(["n_inner"], 4 * nEmbd),
    activation,
    layerNormEpsilon: fields.positiveNumber("layer_norm_epsilon", 1e-5),
    scaleAttnWeights: fields.boolean("scale_attn_weights", true),
    scaleAttnByInverseLayerIdx: fields.boolean("scale_attn_by_inverse_layer_idx", false),
    tieWordEmbeddings: fields.boolean("tie_word_embeddings", true),
    bosTokenId: fields.tokenIds("bos_token_id", [50256])[0] ?? null,
    eosTokenIds: fields.tokenIds("eos_token_id", [50256]),
  };
  refuseGiant(config);
  return config;
}

/** Far beyond any GPT-2; what is larger is nonsense that would take for ever to look for in a checkpoint. */
const MOST_LAYERS = 1024;
const LARGEST_SIZE = 2 ** 24;

function refuseGiant({ nLayer, ...config }: Gpt2Config): void {
  const sizes = [config.vocabSize, config.nPositions, config.nEmbd, config.nInner];
  if (nLayer <= MOST_LAYERS && sizes.every((size) => size <= LARGEST_SIZE)) return;
  throw new ChorusError(
    "model_invalid",
    `${FILE}: no model has ${nLayer} layers of width ${config.nEmbd} and ${config.nInner}, ` +
      `${config.vocabSize} tokens and ${config.nPositions} positions.`,
    FILE,
  );
}

function refuseUnsupported(fields: JsonFields): void {
  for (const name of ["reorder_and_upcast_attn", "add_cross_attention"]) {
    if (fields.boolean(name, false)) throw unsupported(`${name}: true`);
  }
  if (fields.has("quantization_config")) throw unsupported("quantization_config (weights must be F32, F16 or BF16)");
}

function unsupported(what: string): ChorusError {
  return new ChorusError(
    "model_unsupported",
    `This model's config.json asks for ${what}, which is not supported.`,
    FILE,
  );
}
