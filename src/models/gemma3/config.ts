// config.json of Gemma 3's text models. Fields that are absent or null have the defaults of Hugging Face's
// Gemma3TextConfig; sizes must be there.

import { JsonFields } from "../../files/json-fields.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { activationOf, unsupported } from "../config-fields.ts";
import { readDecoderConfig, readRope, readWindows, type DecoderConfig } from "../decoder-config.ts";
import type { Activation, RotaryAngles } from "../graph.ts";
import { rotaryAngles } from "../rotary-angles.ts";

export interface Gemma3Config extends DecoderConfig {
  readonly activation: Activation;
  /** Factor of attention scores. */
  readonly attentionScale: number;
  readonly hasAttentionBias: boolean;
  /** How much the norms' stored weights are too small. */
  readonly storedNormOffset: number;
  /** Positions that each layer sees; null: all. */
  readonly windows: readonly (number | null)[];
  /** Rotary angles of the layers that see everything. */
  readonly globalAngles: RotaryAngles;
  /** Rotary angles of the layers with a window. */
  readonly localAngles: RotaryAngles;
  /** Whether the head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
}

/** @throws ChorusError model_invalid or model_unsupported, naming the field */
export function parseGemma3Config(json: unknown): Gemma3Config {
  const fields = new JsonFields(CONFIG_FILE, json);
  for (const name of ["attn_logit_softcapping", "final_logit_softcapping"]) {
    if (fields.has(name)) throw unsupported(name);
  }
  if (fields.boolean("use_bidirectional_attention", false)) throw unsupported("use_bidirectional_attention: true");
  const decoder = readDecoderConfig(fields, 256);
  const { numLayers, headDim, maxPositions } = decoder.shape;
  const window = fields.positiveInteger(["sliding_window"], 4096);
  const pattern = fields.positiveInteger(["sliding_window_pattern", "_sliding_window_pattern"], 6);
  const [global, local] = readRopes(fields);
  return {
    ...decoder,
    activation: activationOf(fields, "hidden_activation", "gelu_pytorch_tanh"),
    attentionScale: 1 / Math.sqrt(fields.positiveNumber("query_pre_attn_scalar", 256)),
    hasAttentionBias: fields.boolean("attention_bias", false),
    storedNormOffset: fields.nonNegativeNumber("stored_norm_offset", 1),
    windows: readWindows(fields, numLayers, window, (layer) => (layer + 1) % pattern !== 0),
    globalAngles: rotaryAngles({ ...global, headDim, maxPositions }),
    localAngles: rotaryAngles({ ...local, headDim, maxPositions }),
    tieWordEmbeddings: fields.boolean("tie_word_embeddings", true),
  };
}

/** Reads global, then local positions. Only the global ones are scaled, unless the config has settings for each kind. */
function readRopes(fields: JsonFields) {
  const localTheta = fields.positiveNumber("rope_local_base_freq", 10_000);
  if (fields.has("rope_parameters")) {
    return [readRope(fields, 1e6, "full_attention"), readRope(fields, localTheta, "sliding_attention")] as const;
  }
  return [readRope(fields, 1e6), { theta: localTheta, scaling: null }] as const;
}
