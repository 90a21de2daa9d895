// The common fields of Llama-type decoders' config.json, by Hugging Face's names.

import { JsonFields } from "../files/json-fields.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import { invalid, refuseGiant, refuseQuantised, requiredSize, unsupported } from "./config-fields.ts";
import type { ModelShape } from "../protocol/model-shape.ts";

export interface DecoderConfig {
  readonly shape: ModelShape;
  /** Width of the feed-forward part. */
  readonly intermediateSize: number;
  readonly rmsNormEps: number;
  readonly eosTokenIds: readonly number[];
}

/**
 * @param defaultHeadDim head_dim where the config has none; null: hidden_size / num_attention_heads
 * @throws ChorusError model_invalid or model_unsupported, naming the field
 */
export function readDecoderConfig(fields: JsonFields, defaultHeadDim: number | null = null): DecoderConfig {
  refuseQuantised(fields);
  const hiddenSize = requiredSize(fields, "hidden_size");
  const numHeads = requiredSize(fields, "num_attention_heads");
  const numKvHeads = fields.positiveInteger(["num_key_value_heads"], numHeads);
  if (numHeads % numKvHeads !== 0) {
    throw invalid(`num_attention_heads (${numHeads}) must be a multiple of num_key_value_heads (${numKvHeads})`);
  }
  const headDim = fields.positiveInteger(["head_dim"], defaultHeadDim) ?? hiddenSize / numHeads;
  if (!Number.isInteger(headDim)) {
    throw invalid(`hidden_size (${hiddenSize}) must be a multiple of num_attention_heads (${numHeads})`);
  }
  const shape = {
    numLayers: requiredSize(fields, "num_hidden_layers"),
    hiddenSize,
    numHeads,
    numKvHeads,
    headDim,
    vocabSize: requiredSize(fields, "vocab_size"),
    maxPositions: requiredSize(fields, "max_position_embeddings"),
  };
  const intermediateSize = requiredSize(fields, "intermediate_size");
  refuseGiant(shape, intermediateSize);
  return {
    shape,
    intermediateSize,
    rmsNormEps: fields.positiveNumber("rms_norm_eps", 1e-6),
    eosTokenIds: fields.tokenIds("eos_token_id", []),
  };
}

interface Rope {
  readonly theta: number;
  readonly scaling: { readonly name: string; readonly json: Record<string, unknown> } | null;
}

/**
 * Reads the rotary positions: rope_theta and rope_scaling, or rope_parameters, which transformers 5 writes for both.
 * @param kind kind of layer, if rope_parameters has several
 */
export function readRope(fields: JsonFields, defaultTheta: number, kind?: string): Rope {
  const all = fields.object("rope_parameters", null);
  if (all === null) {
    const json = fields.object("rope_scaling", null);
    return {
      theta: fields.positiveNumber("rope_theta", defaultTheta),
      scaling: json && { name: "rope_scaling", json },
    };
  }
  const name = kind === undefined ? "rope_parameters" : `rope_parameters.${kind}`;
  const json = kind === undefined ? all : new JsonFields(CONFIG_FILE, all).object(kind, {});
  const parameters = new JsonFields(`${CONFIG_FILE}: ${name}`, json);
  if (parameters.positiveNumber("partial_rotary_factor", 1) !== 1) throw unsupported(`${name}.partial_rotary_factor`);
  return { theta: parameters.positiveNumber("rope_theta", defaultTheta), scaling: { name, json } };
}

/**
 * Returns the positions that each layer sees; null: all.
 * @param isSliding which layers have the window, if the config has no layer_types
 */
export function readWindows(
  fields: JsonFields,
  numLayers: number,
  window: number | null,
  isSliding: (layer: number) => boolean,
): readonly (number | null)[] {
  const types = fields.array("layer_types", null);
  const known: readonly unknown[] = ["full_attention", "sliding_attention"];
  const other = types?.find((type) => !known.includes(type));
  if (other !== undefined) throw unsupported(`layer_types ${JSON.stringify(other)} (known: ${known.join(", ")})`);
  if (types && types.length !== numLayers) {
    throw invalid(`layer_types has ${types.length} entries for num_hidden_layers ${numLayers}`);
  }
  const slides = (layer: number) => (types ? types[layer] === "sliding_attention" : isSliding(layer));
  return Array.from({ length: numLayers }, (_, layer) => (slides(layer) ? window : null));
}
