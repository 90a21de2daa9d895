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
import { kvBytesPerBlock, type ModelShape } from "../protocol/model-shape.ts";
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
const DEFAULT_MAX_NUM_SEQS = 64;
const DEFAULT_MAX_NUM_BATCHED_TOKENS = 256;
/** Contexts that the cache holds by default, unless they take more than DEFAULT_KV_CACHE_BYTES. */
const DEFAULT_FULL_CONTEXTS = 16;
const DEFAULT_KV_CACHE_BYTES = 256 * 2 ** 20;
const DEFAULT_RUN_AHEAD = 2;
const DEFAULT_BATCH_WINDOW_MS = 50;

/** @throws ChorusError missing_required_parameter, invalid_type or invalid_value of "mode" */
export function parseBatchingMode(mode: unknown): BatchingMode {
  const checked = new Fields({ mode }).oneOf("mode", BATCHING_MODES);
  if (checked === undefined) throw missing("mode");
  return checked;
}

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
  usual: Partial<Pick<ResolvedEngineConfig, "dtype" | "maxNumBatchedTokens">> = {},
  draftModel: Pick<ModelShape, "numLayers" | "numKvHeads" | "headDim"> | null = null,
): ResolvedEngineConfig {
  const fields = new Fields(config);
  fields.refuseOthers(CONFIG_FIELDS);
  const blockSize = fields.integer("blockSize", { min: BLOCK_SIZE, max: BLOCK_SIZE }) ?? BLOCK_SIZE;
  // Every running sequence needs a row in a step.
  const wantedSeqs = fields.integer("maxNumSeqs", { min: 1, max: 1024 });
  const usualBatchedTokens = usual.maxNumBatchedTokens ?? DEFAULT_MAX_NUM_BATCHED_TOKENS;
  const maxNumBatchedTokens =
    fields.integer("maxNumBatchedTokens", { min: 1, max: 8192 }) ??
    Math.max(usualBatchedTokens, Math.min(wantedSeqs ?? 0, DEFAULT_MAX_NUM_BATCHED_TOKENS));
  const maxNumSeqs = wantedSeqs ?? Math.min(DEFAULT_MAX_NUM_SEQS, maxNumBatchedTokens);
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
    dtype: fields.oneOf("dtype", WEIGHTS_DTYPES) ?? usual.dtype ?? "f16",
    kvCacheDtype,
    seed: fields.integer("seed", { min: 0, max: Number.MAX_SAFE_INTEGER }) ?? Math.floor(Math.random() * 2 ** 32),
    runAhead: fields.integer("runAhead", { min: 0, max: 4 }) ?? DEFAULT_RUN_AHEAD,
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

function parseSpeculation(fields: Fields): ResolvedEngineConfig["speculation"] {
  const value = fields.get("speculation");
  if (value === undefined) return null;
  const speculation = new Fields(value, "speculation");
  const method = speculation.oneOf("method", ["ngram", "draft_model"]);
  if (method === undefined) throw missing("speculation.method");
  if (method === "draft_model") {
    speculation.refuseOthers(["method", "model", "num_speculative_tokens"]);
    if (speculation.get("model") === undefined) throw missing("speculation.model");
    return { method, numTokens: speculation.integer("num_speculative_tokens", { min: 1, max: 16 }) ?? 4 };
  }
  speculation.refuseOthers(["method", "numTokens", "minMatch"]);
  return {
    method,
    numTokens: speculation.integer("numTokens", { min: 1, max: 16 }) ?? 4,
    minMatch: speculation.integer("minMatch", { min: 1, max: 8 }) ?? 3,
  };
}

function decideNumBlocks(fields: Fields, bytesPerBlock: number, maxModelLen: number, blockSize: number): number {
  const kvCacheBytes = fields.integer("kvCacheBytes", { min: 1, max: Number.MAX_SAFE_INTEGER });
  const numGpuBlocks = fields.integer("numGpuBlocks", { min: 1, max: 2 ** 24 });
  if (numGpuBlocks !== undefined) return numGpuBlocks;
  if (kvCacheBytes === undefined) {
    const wanted = DEFAULT_FULL_CONTEXTS * Math.ceil(maxModelLen / blockSize);
    return Math.max(1, Math.min(wanted, Math.floor(DEFAULT_KV_CACHE_BYTES / bytesPerBlock)));
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
