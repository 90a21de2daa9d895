// config.json of the families that share Llama's graph. Fields that are absent or null have the defaults of Hugging Face's
// config classes; sizes must be there.

import { JsonFields } from "../../files/json-fields.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import { activationOf, unsupported } from "../config-fields.ts";
import { readDecoderConfig, readRope, readWindows, type DecoderConfig } from "../decoder-config.ts";
import type { Activation, RotaryAngles } from "../graph.ts";
import { rotaryAngles } from "../rotary-angles.ts";

export interface LlamaConfig extends DecoderConfig {
  /** config.json's model_type. */
  readonly family: string;
  readonly activation: Activation;
  readonly angles: RotaryAngles;
  /** Positions that each layer sees; null: all. */
  readonly windows: readonly (number | null)[];
  readonly hasQkvBias: boolean;
  readonly hasOutputBias: boolean;
  readonly hasMlpBias: boolean;
  /** Whether queries and keys are normalised, head by head, before they are rotated. */
  readonly hasHeadNorms: boolean;
  /** Whether the head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
}

/** Number of positions that layers see, from `firstLayer` on. */
interface Window {
  readonly size: number | null;
  readonly firstLayer: number;
}

/** A family's differences from Llama. */
interface Differences {
  readonly qkvBias?: true;
  readonly headNorms?: true;
  readonly headDim?: number;
  /** [none] */
  readonly window?: (fields: JsonFields) => Window;
}

const FAMILIES: ReadonlyMap<string, Differences> = new Map<string, Differences>([
  ["llama", {}],
  ["mistral", { window: mistralWindow }],
  ["qwen2", { qkvBias: true, window: qwenWindow }],
  ["qwen3", { headNorms: true, headDim: 128, window: qwenWindow }],
]);

export const LLAMA_TYPES = [...FAMILIES.keys()];

/** @throws ChorusError model_invalid or model_unsupported, naming the field */
export function parseLlamaConfig(json: unknown): LlamaConfig {
  const fields = new JsonFields(CONFIG_FILE, json);
  const family = fields.string("model_type", "llama");
  const differences = FAMILIES.get(family) ?? {};
  const decoder = readDecoderConfig(fields, differences.headDim);
  const { numLayers, headDim, maxPositions } = decoder.shape;
  if (fields.positiveNumber("partial_rotary_factor", 1) !== 1) throw unsupported("partial_rotary_factor");
  const attentionBias = fields.boolean("attention_bias", false);
  const window = differences.window?.(fields) ?? { size: null, firstLayer: 0 };
  return {
    ...decoder,
    family,
    activation: activationOf(fields, "hidden_act", "silu"),
    angles: rotaryAngles({ ...readRope(fields, 10_000), headDim, maxPositions }),
    windows: readWindows(fields, numLayers, window.size, (layer) => layer >= window.firstLayer),
    hasQkvBias: attentionBias || differences.qkvBias === true,
    hasOutputBias: attentionBias,
    hasMlpBias: fields.boolean("mlp_bias", false),
    hasHeadNorms: differences.headNorms === true,
    tieWordEmbeddings: fields.boolean("tie_word_embeddings", false),
  };
}

function mistralWindow(fields: JsonFields): Window {
  return { size: fields.positiveInteger(["sliding_window"], null), firstLayer: 0 };
}

function qwenWindow(fields: JsonFields): Window {
  return {
    size: fields.boolean("use_sliding_window", false) ? fields.positiveInteger(["sliding_window"], 4096) : null,
    firstLayer: fields.nonNegativeInteger("max_window_layers", 28),
  };
}
