// Rotary positions (Su et al. 2021) and their scalings for longer contexts, as Hugging Face's
// modeling_rope_utils.py computes them; here in float64.

import { brief, JsonFields } from "../files/json-fields.ts";
import { CONFIG_FILE } from "../files/model-folder.ts";
import { invalid, unsupported } from "./config-fields.ts";
import type { RotaryAngles } from "./graph.ts";

export interface RotarySettings {
  /** Base of the frequencies. */
  readonly theta: number;
  /** Number of a head's values that turn. */
  readonly headDim: number;
  /** Longest context, in tokens. */
  readonly maxPositions: number;
  /** The context before it was made longer, if the config has it outside of the scaling, too: it counts. [not there] */
  readonly original?: number | null;
  /** That context, if the config has it nowhere. [maxPositions] */
  readonly otherwise?: number | undefined;
  /** The config's field for the scaling, and its value; null for no scaling. */
  readonly scaling: { readonly name: string; readonly json: Record<string, unknown> } | null;
}

type Stretch = (frequencies: readonly number[], fields: JsonFields, settings: RotarySettings) => RotaryAngles;

const STRETCHES: ReadonlyMap<string, Stretch> = new Map<string, Stretch>([
  ["default", (inverseFrequencies) => ({ inverseFrequencies, scaling: 1 })],
  ["linear", linear],
  ["llama3", llama3],
  ["yarn", yarn],
  ["divisors", divisors],
  ["longrope", longrope],
  ["su", longrope], // its name in Phi-3's first configs
  ["dynamic", dynamic],
]);

/** @throws ChorusError model_unsupported for another rope type, model_invalid; both name the field */
export function rotaryAngles(settings: RotarySettings): RotaryAngles {
  const { theta, headDim, scaling } = settings;
  if (headDim % 2 !== 0) throw invalid(`head_dim (${headDim}) must be even for rotary positions`);
  const angles = plain(theta, headDim);
  if (scaling === null) return angles;
  const fields = new JsonFields(`${CONFIG_FILE}: ${scaling.name}`, scaling.json);
  // Old configs write "type".
  const type = fields.string("rope_type", fields.string("type", "default"));
  const stretch = STRETCHES.get(type);
  if (stretch === undefined) {
    throw unsupported(`the rope type ${brief(type)} (known: ${[...STRETCHES.keys()].join(", ")})`);
  }
  const stretched = stretch(angles.inverseFrequencies, fields, settings);
  const beta = fields.nonNegativeNumber("llama_4_scaling_beta", 0);
  if (beta === 0) return stretched;
  return { ...stretched, queryGrowth: { beta, period: originalOf(fields, settings) } };
}

function plain(theta: number, headDim: number): RotaryAngles {
  return {
    inverseFrequencies: Array.from({ length: headDim / 2 }, (_, i) => theta ** ((-2 * i) / headDim)),
    scaling: 1,
  };
}

/** Chen et al. 2023: every position is divided. */
function linear(frequencies: readonly number[], fields: JsonFields): RotaryAngles {
  const factor = required(fields, "factor");
  return { inverseFrequencies: frequencies.map((frequency) => frequency / factor), scaling: 1 };
}

/**
 * LongRoPE (Ding et al. 2024): each frequency is divided by one of two factors. Which of the two is the engine's matter, not
 * a prompt's: rows of one cache must turn alike.
 */
function longrope(frequencies: readonly number[], fields: JsonFields, settings: RotarySettings): RotaryAngles {
  const { maxPositions } = settings;
  const original = originalOf(fields, settings);
  const factor = fields.positiveNumber("factor", maxPositions / original);
  const growth = factor <= 1 ? 1 : Math.sqrt(1 + Math.log(factor) / Math.log(original));
  return {
    inverseFrequencies: dividedBy(frequencies, fields, "short_factor"),
    scaling: fields.positiveNumber("attention_factor", growth),
    long: { from: original, inverseFrequencies: dividedBy(frequencies, fields, "long_factor") },
  };
}

/** Hunyuan's scaling, which is of the base. Without alpha it would change with a prompt's length, as its rows may not. */
function dynamic(_: readonly number[], fields: JsonFields, { theta, headDim }: RotarySettings): RotaryAngles {
  const alpha = fields.positiveNumber("alpha", null);
  if (alpha === null) throw unsupported('the rope type "dynamic" without alpha');
  return plain(theta * alpha ** (headDim / (headDim - 2)), headDim);
}

/** A GGUF file has Llama 3's scaling worked out: what each frequency is divided by. */
function divisors(frequencies: readonly number[], fields: JsonFields): RotaryAngles {
  return { inverseFrequencies: dividedBy(frequencies, fields, "divisors"), scaling: 1 };
}

function dividedBy(frequencies: readonly number[], fields: JsonFields, name: string): number[] {
  const by = fields.array(name, []);
  const isSound = by.length === frequencies.length && by.every((divisor) => typeof divisor === "number" && divisor > 0);
  if (!isSound) throw invalid(`rope ${name} must be ${frequencies.length} positive numbers`);
  return frequencies.map((frequency, i) => frequency / (by[i] as number));
}

/** Llama 3.1: long wavelengths are divided, short ones stay, and those between are mixed. */
function llama3(frequencies: readonly number[], fields: JsonFields, settings: RotarySettings): RotaryAngles {
  const factor = required(fields, "factor");
  const low = required(fields, "low_freq_factor");
  const high = required(fields, "high_freq_factor");
  const original = originalOf(fields, settings);
  if (high <= low) throw invalid(`rope high_freq_factor (${high}) must be above low_freq_factor (${low})`);
  const stretched = (frequency: number) => {
    const turns = (original * frequency) / (2 * Math.PI);
    const kept = clamp((turns - low) / (high - low));
    return kept * frequency + ((1 - kept) * frequency) / factor;
  };
  return { inverseFrequencies: frequencies.map(stretched), scaling: 1 };
}

/**
 * YaRN (Peng et al. 2023). The written factor counts, as in vLLM and transformers 5; transformers 4.51 to 4.57 take
 * max_position_embeddings / original_max_position_embeddings, which is the same number in sound configs.
 */
function yarn(frequencies: readonly number[], fields: JsonFields, settings: RotarySettings): RotaryAngles {
  const { theta, headDim, maxPositions } = settings;
  const original = originalOf(fields, settings);
  const factor = fields.positiveNumber("factor", maxPositions / original);
  const isWhole = fields.boolean("truncate", true);
  // The dimension that makes this number of turns over the original context.
  const dimensionOf = (turns: number) => (headDim * Math.log(original / (turns * 2 * Math.PI))) / (2 * Math.log(theta));
  const fast = dimensionOf(fields.positiveNumber("beta_fast", 32));
  const slow = dimensionOf(fields.positiveNumber("beta_slow", 1));
  const first = Math.max(0, isWhole ? Math.floor(fast) : fast);
  const last = Math.min(headDim - 1, isWhole ? Math.ceil(slow) : slow);
  const stretched = (frequency: number, i: number) => {
    const divided = clamp((i - first) / (last === first ? 0.001 : last - first));
    return (1 - divided) * frequency + (divided * frequency) / factor;
  };
  return { inverseFrequencies: frequencies.map(stretched), scaling: yarnScaling(fields, factor) };
}

/** Returns the factor of cosine and sine. */
function yarnScaling(fields: JsonFields, factor: number): number {
  const given = fields.positiveNumber("attention_factor", null);
  if (given !== null) return given;
  const scale = (mscale: number) => (factor <= 1 ? 1 : 0.1 * mscale * Math.log(factor) + 1);
  const [mscale, ofAll] = [fields.nonNegativeNumber("mscale", 0), fields.nonNegativeNumber("mscale_all_dim", 0)];
  return mscale > 0 && ofAll > 0 ? scale(mscale) / scale(ofAll) : scale(1);
}

/** Returns the context before it was made longer. */
function originalOf(fields: JsonFields, { original, otherwise, maxPositions }: RotarySettings): number {
  return original ?? fields.positiveNumber("original_max_position_embeddings", otherwise ?? maxPositions);
}

function required(fields: JsonFields, name: string): number {
  const value = fields.positiveNumber(name, null);
  if (value === null) throw invalid(`rope ${name} is missing`);
  return value;
}

function clamp(x: number): number {
  return Math.min(1, Math.max(0, x));
}
