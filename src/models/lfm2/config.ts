// config.json of LFM2, with the defaults of Hugging Face's Lfm2Config.

import { JsonFields } from "../../files/json-fields.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { invalid, layerTypes, readTaps, requiredSize, unsupported } from "../config-fields.ts";
import type { RotaryAngles } from "../graph.ts";
import { parseDecoderConfig, type DecoderConfig } from "../decoder/config.ts";

export interface Lfm2Config extends Omit<DecoderConfig, "layers"> {
  readonly layers: readonly (typeof LAYER_TYPES)[number][];
  readonly angles: RotaryAngles;
  /** Rows that a convolution adds up. */
  readonly taps: number;
}

const LAYER_TYPES = ["conv", "full_attention"] as const;

/** @throws ChorusError model_invalid or model_unsupported, naming the field */
export function parseLfm2Config(json: unknown): Lfm2Config {
  const fields = new JsonFields(CONFIG_FILE, json);
  if (fields.boolean("conv_bias", false)) throw unsupported("conv_bias");
  const taps = readTaps(fields, "conv_L_cache", 3);
  const decoder = parseDecoderConfig({
    ...(json as object),
    layer_types: null,
    num_key_value_heads: fields.positiveInteger(["num_key_value_heads"], 8),
    intermediate_size: innerSize(fields),
    rms_norm_eps: fields.positiveNumber("norm_eps", 1e-5),
    rope_theta: fields.positiveNumber("theta", fields.positiveNumber("rope_theta", 1_000_000)),
    tie_word_embeddings: fields.boolean("tie_embedding", fields.boolean("tie_word_embeddings", true)),
  });
  const { shape } = decoder;
  const angles = decoder.layers[0]?.angles;
  if (!angles) throw invalid("no layer rotates its queries and keys");
  const attends = fields.array("full_attn_idxs", null);
  const layers = layerTypes(fields, shape.numLayers, LAYER_TYPES, (layer) =>
    attends === null || attends.includes(layer) ? "full_attention" : "conv",
  );
  const numLayers = layers.filter((type) => type === "conv").length;
  const convs = { numLayers, width: shape.hiddenSize, numRows: taps - 1 };
  return {
    ...decoder,
    shape: numLayers === 0 ? shape : { ...shape, convs },
    angles,
    layers,
    taps,
  };
}

/** Width of the feed-forward part: two thirds of what the config says, rounded up, unless it says not to or has a null factor. */
function innerSize(fields: JsonFields): number {
  const size = fields.has("block_ff_dim")
    ? requiredSize(fields, "block_ff_dim")
    : requiredSize(fields, "intermediate_size");
  if (!fields.boolean("block_auto_adjust_ff_dim", true)) return size;
  const narrowed = Math.floor((2 * size) / 3);
  if (fields.isNull("block_ffn_dim_multiplier")) return narrowed;
  const scaled = Math.floor(fields.positiveNumber("block_ffn_dim_multiplier", 1) * narrowed);
  const multiple = fields.positiveInteger(["block_multiple_of"], 256);
  return Math.ceil(scaled / multiple) * multiple;
}
