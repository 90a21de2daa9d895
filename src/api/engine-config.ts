import {
  BACKEND_CHOICES,
  CPU_MATHS,
  LOGPROBS_MODES,
  WEIGHTS_DTYPES,
  type BackendChoice,
  type BatchingMode,
  type EngineConfig,
  type ResolvedEngineConfig,
} from "../protocol/config.ts";
import { ChorusError } from "../protocol/errors.ts";
import {
  DEFAULT_DRAFT_LENGTH,
  draftModelOf,
  fieldThatRestarts,
  type EngineChanges,
  type LoadedSizes,
} from "../protocol/live-config.ts";
import { kvBytesPerBlock, type ModelShape } from "../protocol/model-shape.ts";
import { MAX_DRAFT_LENGTH, MAX_RUN_AHEAD, slotsAndRows, spareSamples } from "../protocol/step-sizes.ts";
import { parseAlertThresholds } from "./alert-thresholds.ts";
import { Fields, invalidValue, missing } from "./validate.ts";

const CONFIG_FIELDS = [
  "backend",
  "cpuMath",
  "cpuThreads",
  "maxNumSeqs",
  "maxNumBatchedTokens",
  "maxModelLen",
  "blockSize",
  "kvCacheBytes",
  "numGpuBlocks",
  "dtype",
  "kvCacheDtype",
  "seed",
  "runAhead",
  "logprobsMode",
  "enablePrefixCaching",
  "speculation",
  "schedulingPolicy",
  "batchingMode",
  "batchWindowMs",
  "longPrefillTokenThreshold",
  "maxStepStretch",
  "maxQueueSize",
  "targetItlMs",
  "alerts",
  "logLevel",
] as const satisfies readonly (keyof EngineConfig)[];

const BATCHING_MODES: readonly BatchingMode[] = ["continuous", "static", "sequential"];

const DEFAULT_MAX_STEP_STRETCH = 2;
const MAX_CPU_THREADS = 64;
const BLOCK_SIZE = 16;
/** Contexts that the cache holds by default, unless they take more than DEFAULT_KV_CACHE_BYTES. */
const DEFAULT_FULL_CONTEXTS = 16;
const DEFAULT_KV_CACHE_BYTES = 256 * 2 ** 20;
const DEFAULT_RUN_AHEAD = 2;
const DEFAULT_BATCH_WINDOW_MS = 50;

/** @throws ChorusError invalid_type or invalid_value of "backend" */
export function parseBackendChoice(backend: unknown): BackendChoice {
  return new Fields({ backend }).oneOf("backend", BACKEND_CHOICES) ?? "auto";
}

/**
 * Checks a caller's config and fills in the defaults.
 * @param usual the backend's own defaults
 * @param draftModel has a cache of as many blocks
 * @throws ChorusError unknown_parameter, invalid_type, invalid_value, naming the field.
 */
export function resolveEngineConfig(
  config: EngineConfig,
  model: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim" | "maxPositions">,
  defaultText: Partial<Pick<ResolvedEngineConfig, "dtype" | "maxNumBatchedTokens">> = {},
  draftModel: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim"> | null = null,
): ResolvedEngineConfig {
  const fields = new Fields(config);
  fields.refuseOthers(CONFIG_FIELDS);
  const blockSize = fields.integer("blockSize", { min: BLOCK_SIZE, max: BLOCK_SIZE }) ?? BLOCK_SIZE;
  const { maxNumSeqs, maxNumBatchedTokens } = slotsAndRows(
    {
      maxNumSeqs: fields.integer("maxNumSeqs", { min: 1, max: 1024 }) ?? null,
      maxNumBatchedTokens: fields.integer("maxNumBatchedTokens", { min: 1, max: 8192 }) ?? null,
    },
    defaultText.maxNumBatchedTokens ?? null,
  );
  // Every running sequence needs a row in a step.
  if (maxNumSeqs > maxNumBatchedTokens) {
    throw invalidValue("maxNumSeqs", `at most maxNumBatchedTokens (${maxNumBatchedTokens})`, maxNumSeqs);
  }
  const longPrefillTokenThreshold =
    fields.integer("longPrefillTokenThreshold", { min: 0, max: maxNumBatchedTokens }) ?? 0;
  const maxModelLen = fields.integer("maxModelLen", { min: 2, max: model.maxPositions }) ?? model.maxPositions;
  const kvCacheDtype = fields.oneOf("kvCacheDtype", ["f32", "f16"]) ?? "f16";
  const targetItlMs = fields.number("targetItlMs", { min: 0, max: Number.MAX_SAFE_INTEGER, above: true }) ?? null;
  const bytesPerBlock =
    kvBytesPerBlock(model, kvCacheDtype, blockSize) +
    (draftModel === null ? 0 : kvBytesPerBlock(draftModel, kvCacheDtype, blockSize));
  parseBackendChoice(fields.get("backend"));
  return Object.freeze({
    cpuMath: fields.oneOf("cpuMath", CPU_MATHS) ?? "fastest",
    cpuThreads: fields.integer("cpuThreads", { min: 1, max: MAX_CPU_THREADS }) ?? null,
    maxNumSeqs,
    maxNumBatchedTokens,
    maxModelLen,
    blockSize,
    numGpuBlocks: decideNumBlocks(fields, bytesPerBlock, maxModelLen, blockSize),
    dtype: fields.oneOf("dtype", WEIGHTS_DTYPES) ?? defaultText.dtype ?? "f16",
    kvCacheDtype,
    seed: fields.integer("seed", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? Math.floor(Math.random() * 2 ** 32),
    runAhead: fields.integer("runAhead", { min: 0, max: MAX_RUN_AHEAD }) ?? DEFAULT_RUN_AHEAD,
    logprobsMode: fields.oneOf("logprobsMode", LOGPROBS_MODES) ?? "raw_logprobs",
    enablePrefixCaching: fields.boolean("enablePrefixCaching") ?? true,
    speculation: parseSpeculation(fields),
    schedulingPolicy:
      fields.oneOf("schedulingPolicy", ["fcfs", "priority", "shortest-remaining", "balanced"]) ?? "fcfs",
    batchingMode: fields.oneOf("batchingMode", BATCHING_MODES) ?? "continuous",
    batchWindowMs: fields.number("batchWindowMs", { min: 0, max: 60_000 }) ?? DEFAULT_BATCH_WINDOW_MS,
    longPrefillTokenThreshold,
    maxStepStretch: fields.number("maxStepStretch", { min: 1, max: 1000 }) ?? DEFAULT_MAX_STEP_STRETCH,

    maxQueueSize: fields.integer("maxQueueSize", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? Infinity,
    targetItlMs,
    alerts: parseAlertThresholds(fields, targetItlMs),
    logLevel: fields.oneOf("logLevel", ["silent", "error", "warn", "info", "debug"]) ?? "silent",
  });
}

/** A config as its caller wrote it, and with all defaults filled in. */
export interface ConfigInUse {
  readonly given: EngineConfig;
  readonly resolved: ResolvedEngineConfig;
}

/** Returns the sizes of steps that an engine with this config is loaded for. */
export function loadedSizes(
  { given, resolved: { maxNumSeqs, maxNumBatchedTokens, speculation } }: ConfigInUse,
  defaultBatchedTokens: number | null,
): LoadedSizes {
  const maxSpareSamples = spareSamples(maxNumSeqs, speculation?.numTokens ?? 0);
  return { maxNumSeqs, maxNumBatchedTokens, maxSpareSamples, draftModel: draftModelOf(given), defaultBatchedTokens };
}

/**
 * Checks changes for an engine that runs, and returns its config with them.
 * @throws ChorusError as resolveEngineConfig does; invalid_value for what needs another engine
 */
export function changeEngineConfig(
  { given, resolved }: ConfigInUse,
  changes: EngineChanges,
  loaded: LoadedSizes,
): ConfigInUse {
  const { seed, dtype, kvCacheDtype, maxModelLen, numGpuBlocks, blockSize } = resolved;
  new Fields(changes).refuseOthers(CONFIG_FIELDS);
  const said = Object.entries(changes).filter(([, value]) => value !== undefined);
  const requested: EngineConfig = { ...given, ...Object.fromEntries(said) }; // null is the default everywhere
  const fixed = { seed, dtype, kvCacheDtype, maxModelLen, numGpuBlocks, blockSize };
  // Where the number of blocks is given, the model's shape has no say.
  const shape = { numLayers: 0, numKvHeads: 0, headDim: 0, maxPositions: maxModelLen };
  const { defaultBatchedTokens } = loaded;
  const defaultText = defaultBatchedTokens === null ? {} : { maxNumBatchedTokens: defaultBatchedTokens };
  const next = resolveEngineConfig({ ...requested, ...fixed }, shape, defaultText);
  const field = fieldThatRestarts(given, requested, loaded);
  if (field === null) return { given: requested, resolved: next };
  throw new ChorusError("invalid_value", `${field} ${whyFixed(field, loaded)} Create another engine for that.`, field);
}

function whyFixed(field: string, { maxNumSeqs, maxNumBatchedTokens, maxSpareSamples }: LoadedSizes): string {
  switch (field) {
    case "maxNumSeqs":
      return `can't exceed ${maxNumSeqs} while the engine runs: its memory was laid out for that.`;
    case "maxNumBatchedTokens":
      return `can't exceed ${maxNumBatchedTokens} while the engine runs: its memory was laid out for that.`;
    case "speculation":
      return `can't have more than ${maxSpareSamples} drafted tokens in a step while the engine runs: its memory was laid out for that.`;
    default:
      return "can't be changed while the engine runs.";
  }
}

function parseSpeculation(fields: Fields): ResolvedEngineConfig["speculation"] {
  const value = fields.get("speculation");
  if (value === undefined) return null;
  const speculation = new Fields(value, "speculation");
  const method = speculation.oneOf("method", ["ngram", "draft_model"]);
  if (method === undefined) throw missing("speculation.method");
  speculation.refuseOthers(["method", "num_speculative_tokens", method === "ngram" ? "minMatch" : "model"]);
  const numTokens =
    speculation.integer("num_speculative_tokens", { min: 1, max: MAX_DRAFT_LENGTH }) ?? DEFAULT_DRAFT_LENGTH;
  if (method === "ngram")
    return { method, numTokens, minMatch: speculation.integer("minMatch", { min: 1, max: 8 }) ?? 3 };
  if (speculation.get("model") === undefined) throw missing("speculation.model");
  return { method, numTokens };
}

function decideNumBlocks(fields: Fields, bytesPerBlock: number, maxModelLen: number, blockSize: number): number {
  const kvCacheBytes = fields.integer("kvCacheBytes", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const numGpuBlocks = fields.integer("numGpuBlocks", { min: 1, max: 2 ** 24 });
  if (numGpuBlocks !== undefined) return numGpuBlocks;
  if (kvCacheBytes === undefined) {
    const requested = DEFAULT_FULL_CONTEXTS * Math.ceil(maxModelLen / blockSize);
    return Math.max(1, Math.min(requested, Math.floor(DEFAULT_KV_CACHE_BYTES / bytesPerBlock)));
  }
  if (kvCacheBytes < bytesPerBlock) {
    throw new ChorusError(
      "invalid_value",
      `kvCacheBytes is ${kvCacheBytes}, but one block of this model's cache takes ${bytesPerBlock} bytes.`,
      "kvCacheBytes",
    );
  }
  return Math.floor(kvCacheBytes / bytesPerBlock);
}
