// config.json of the families of decoders, by Hugging Face's names. Fields that are absent or null have the defaults of its
// config classes; most sizes must be there.

import { JsonFields } from "../../files/json-fields.ts";
import { CONFIG_FILE } from "../../files/model-folder.ts";
import type { ModelShape } from "../../protocol/model-shape.ts";
import {
  activationOf,
  invalid,
  layerTypes,
  refuseGiant,
  refuseQuantised,
  requiredSize,
  unsupported,
} from "../config-fields.ts";
import type { Activation, RotaryAngles } from "../graph.ts";
import { rotaryAngles, type RotarySettings } from "../rotary-angles.ts";
import { DECODERS, type Differences } from "./differences.ts";

export interface DecoderConfig {
  /** config.json's model_type. */
  readonly family: string;
  readonly differences: Differences;
  readonly shape: ModelShape;
  /** Width of the feed-forward part. */
  readonly intermediateSize: number;
  readonly activation: Activation;
  readonly rmsNormEps: number;
  /** How much the norms' stored weights are too small. */
  readonly storedNormOffset: number;
  readonly layers: readonly DecoderLayer[];
  /** Number of a head's values that turn, the first ones. */
  readonly rotated: number;
  readonly hasQkvBias: boolean;
  readonly hasOutputBias: boolean;
  readonly hasMlpBias: boolean;
  readonly attentionScale: number;
  /** See Attention.cap. */
  readonly attentionCap: number | null;
  /** See Head.cap. */
  readonly logitCap: number | null;
  readonly embeddingScale: number;
  /** Factor of what each part of a layer adds. */
  readonly residualScale: number;
  readonly logitScale: number;
  /** Whether the head is the token embedding. */
  readonly tieWordEmbeddings: boolean;
  readonly eosTokenIds: readonly number[];
}

interface DecoderLayer {
  /** Positions that the layer sees; null: all. */
  readonly window: number | null;
  /** Null: its queries and keys are not rotated. */
  readonly angles: RotaryAngles | null;
}

/**
 * @param own differences of a family that has no row in DECODERS
 * @throws ChorusError model_invalid or model_unsupported, naming the field
 */
export function parseDecoderConfig(json: unknown, own: Differences = {}): DecoderConfig {
  const family = new JsonFields(CONFIG_FILE, json).string("model_type", "llama");
  const differences = DECODERS.get(family) ?? own;
  // A null means none of what it could be, but for rope_parameters: there it means nothing is said.
  const isGiven = ([name, value]: [string, unknown]) =>
    value !== undefined && (value !== null || name !== "rope_parameters");
  const given = Object.fromEntries(Object.entries(json as object).filter(isGiven));
  const fields = new JsonFields(CONFIG_FILE, { ...differences.defaults, ...given });
  refuseQuantised(fields);
  refuseExperts(fields);
  if (fields.boolean("use_bidirectional_attention", false)) throw unsupported("use_bidirectional_attention: true");
  const shape = readShape(fields);
  const intermediateSize = requiredSize(fields, differences.innerField ?? "intermediate_size");
  refuseGiant(shape, intermediateSize);
  const { headDim, hiddenSize } = shape;
  const rotated = readRotated(fields, headDim, differences);
  const allBiases = fields.boolean("use_bias", false);
  const attentionBias = allBiases || fields.boolean("attention_bias", false);
  const queryScalar = fields.positiveNumber("query_pre_attn_scalar", headDim);
  return {
    family,
    differences,
    shape,
    intermediateSize,
    activation: activationOf(fields, fields.has("hidden_activation") ? "hidden_activation" : "hidden_act", "silu"),
    rmsNormEps: fields.positiveNumber("rms_norm_eps", 1e-6),
    storedNormOffset: fields.nonNegativeNumber("stored_norm_offset", differences.normOffset ?? 0),
    layers: readLayers(fields, differences, shape, rotated),
    rotated: differences.turnsNeighbours ? 0 : rotated,
    hasQkvBias: attentionBias || differences.qkvBias === true,
    hasOutputBias: fields.boolean("attention_out_bias", attentionBias),
    hasMlpBias: allBiases || fields.boolean("mlp_bias", false),
    attentionScale: fields.positiveNumber("attention_multiplier", 1 / Math.sqrt(queryScalar)),
    attentionCap: differences.capsScores ? fields.positiveNumber("attn_logit_softcapping", null) : null,
    logitCap: fields.positiveNumber("final_logit_softcapping", null),
    embeddingScale: differences.scaledEmbedding
      ? Math.sqrt(hiddenSize)
      : fields.positiveNumber("embedding_multiplier", 1),
    residualScale: fields.positiveNumber("residual_multiplier", 1),
    logitScale: 1 / fields.positiveNumber("logits_scaling", 1),
    tieWordEmbeddings: fields.boolean("tie_word_embeddings", false),
    eosTokenIds: fields.tokenIds("eos_token_id", []),
  };
}

function refuseExperts(fields: JsonFields): void {
  const experts = fields.nonNegativeInteger("num_local_experts", 0);
  if (experts > 0) throw unsupported(`num_local_experts ${experts}, a mixture of experts`);
}

function readShape(fields: JsonFields): ModelShape {
  const hiddenSize = requiredSize(fields, "hidden_size");
  const numHeads = requiredSize(fields, "num_attention_heads");
  const numKvHeads = fields.positiveInteger(["num_key_value_heads"], numHeads);
  if (numHeads % numKvHeads !== 0) {
    throw invalid(`num_attention_heads (${numHeads}) must be a multiple of num_key_value_heads (${numKvHeads})`);
  }
  const headDim = fields.positiveInteger(["head_dim"], hiddenSize / numHeads);
  if (!Number.isInteger(headDim)) {
    throw invalid(`hidden_size (${hiddenSize}) must be a multiple of num_attention_heads (${numHeads})`);
  }
  return {
    numLayers: requiredSize(fields, "num_hidden_layers"),
    hiddenSize,
    numHeads,
    numKvHeads,
    headDim,
    vocabSize: requiredSize(fields, "vocab_size"),
    maxPositions: requiredSize(fields, "max_position_embeddings"),
  };
}

/** Returns how many of a head's values turn. */
function readRotated(fields: JsonFields, headDim: number, { partialRotation = false }: Differences): number {
  const rope = ropeOf(fields);
  const inRope = new JsonFields(CONFIG_FILE, rope?.json ?? {});
  const [name, source] = inRope.has("partial_rotary_factor")
    ? [`${rope?.name}.partial_rotary_factor`, inRope]
    : ["partial_rotary_factor", fields];
  const factor = source.positiveNumber("partial_rotary_factor", 1);
  if (factor > 1) throw invalid(`${name} (${factor}) must be at most 1`);
  if (factor !== 1 && !partialRotation) throw unsupported(name);
  return factor === 1 ? headDim : Math.floor(headDim * factor + 1e-6);
}

function readLayers(
  fields: JsonFields,
  differences: Differences,
  { numLayers, headDim, maxPositions }: ModelShape,
  rotated: number,
): DecoderLayer[] {
  const anglesFor = (rope: Pick<RotarySettings, "theta" | "scaling">) => {
    const original = fields.positiveInteger(["original_max_position_embeddings"], null);
    const { originalPositions: otherwise } = differences;
    const turned = rotaryAngles({ ...rope, headDim: rotated, maxPositions, original, otherwise });
    const padded = (frequencies: readonly number[]) => [
      ...frequencies,
      ...Array<number>((headDim - rotated) / 2).fill(0),
    ];
    const { inverseFrequencies, long, scaling } = turned;
    if (differences.normAfterRotation && scaling !== 1) {
      throw unsupported(`rope scaling ${scaling} before the norms of queries and keys`);
    }
    return {
      ...turned,
      inverseFrequencies: padded(inverseFrequencies),
      ...(long && { long: { ...long, inverseFrequencies: padded(long.inverseFrequencies) } }),
    };
  };
  const theta = fields.positiveNumber("rope_theta", 10_000);
  const whole = readRope(fields, theta, "full_attention");
  const local = readLocalRope(fields, theta, differences);
  const global = anglesFor(whole);
  const inWindows = local ? anglesFor(local) : global;
  const [full, sliding] = ["full_attention", "sliding_attention"] as const;
  const types = layerTypes(fields, numLayers, [full, "attention", sliding], (layer) =>
    differences.slides?.(layer, fields) ? sliding : full,
  );
  const hasWindows = differences.slides !== undefined && fields.boolean("use_sliding_window", true);
  const window = hasWindows ? fields.positiveInteger(["sliding_window"], null) : null;
  return types.map((type, layer) => {
    const isSliding = type === sliding;
    const rotates = differences.rotates?.(layer, fields, isSliding ? window : null) ?? true;
    const angles = isSliding ? inWindows : global;
    return { window: isSliding ? window : null, angles: rotates ? angles : null };
  });
}

/** Returns rope_scaling, or rope_parameters, which transformers 5 writes instead. It, too, takes the first of both. */
function ropeOf(fields: JsonFields): RotarySettings["scaling"] {
  const objects = ["rope_scaling", "rope_parameters"].map((name) => ({ name, json: fields.object(name, {}) }));
  return objects.find(({ json }) => Object.keys(json).length > 0) ?? null;
}

/**
 * Reads the rotary positions. A base in the object counts before rope_theta.
 * @param kind kind of layer, if the object has several
 */
function readRope(fields: JsonFields, defaultTheta: number, kind: string): Pick<RotarySettings, "theta" | "scaling"> {
  const all = ropeOf(fields);
  if (all === null) return { theta: defaultTheta, scaling: null };
  const ofKind = new JsonFields(CONFIG_FILE, all.json).object<Record<string, unknown> | null>(kind, null);
  const scaling = ofKind ? { name: `${all.name}.${kind}`, json: ofKind } : all;
  const parameters = new JsonFields(`${CONFIG_FILE}: ${scaling.name}`, scaling.json);
  return { theta: parameters.positiveNumber("rope_theta", defaultTheta), scaling };
}

/** Reads the rotary positions of layers with a window; null: all layers have the same. */
function readLocalRope(fields: JsonFields, theta: number, { unscaledWindows = false }: Differences) {
  const kind = "sliding_attention";
  const localTheta = fields.positiveNumber("rope_local_base_freq", theta);
  const hasKinds = new JsonFields(CONFIG_FILE, ropeOf(fields)?.json ?? {}).has(kind);
  if (hasKinds) return readRope(fields, localTheta, kind);
  return unscaledWindows ? { theta: localTheta, scaling: null } : null;
}
