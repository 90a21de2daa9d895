// What createEngine takes. camelCase, vLLM's names.

/** "q8" and "q4": integers of 8 or 4 bits, each group of 32 with a scale. */
export const WEIGHTS_DTYPES = ["f32", "f16", "q8", "q4"] as const;
export type WeightsDtype = (typeof WEIGHTS_DTYPES)[number];
/** What computes: a GPU by WebGPU, or the processor by WebAssembly. */
export type BackendName = "webgpu" | "cpu";
export const BACKEND_CHOICES = ["auto", "webgpu", "cpu"] as const;
export type BackendChoice = (typeof BACKEND_CHOICES)[number];

/**
 * "portable": products are rounded before they are added, which has the same bits in every browser. "fastest": fused where
 * the processor can, which has the same bits on one machine.
 */
export const CPU_MATHS = ["portable", "fastest"] as const;
export type CpuMath = (typeof CPU_MATHS)[number];

export type KvCacheDtype = "f32" | "f16";

/** Who is served first, and who gives way last. What waits ages, so that nobody starves under any of them. */
export type SchedulingPolicy = "fcfs" | "priority" | "shortest-remaining" | "balanced";

/** "static": a batch runs to its end before the next begins. "sequential": one sequence at a time. For comparison. */
export type BatchingMode = "continuous" | "static" | "sequential";

/**
 * Of what the log-probabilities of drawn tokens are, the drawn one's and the most likely ones'. "raw_logprobs": of the
 * model's logits. "processed_logprobs": of what the token was drawn from, after penalties, biases, grammars, temperature (1
 * where greedy) and filters, normalised over what they leave; what they rule out is not told. A prompt's are always raw.
 */
export const LOGPROBS_MODES = ["raw_logprobs", "processed_logprobs"] as const;
export type LogprobsMode = (typeof LOGPROBS_MODES)[number];

export type LogLevel = "silent" | "error" | "warn" | "info" | "debug";

/**
 * A model in Hugging Face layout: "owner/name" is one of the hub (two names, and no slash at the end); any other string is
 * a folder's URL, absolute or relative to the page ("models/name/", "./models/name"); or the folder's files.
 */
export type ModelSource = string | File[];

/** Every field is optional; an unknown or out-of-range one is refused by name. */
export interface EngineConfig {
  /** "auto": a GPU, else the CPU; a GPU that only software plays ("webgpu" takes that too) comes last. ["auto"] */
  backend?: BackendChoice;
  /** ["fastest"] */
  cpuMath?: CpuMath;
  /** Threads that compute on the CPU. [as many as a short trial finds fastest, less than the machine has cores] */
  cpuThreads?: number | null;
  /** Most sequences that run at once. [64] */
  maxNumSeqs?: number;
  /** Token budget of a step: rows of prompt and decode together. [256] */
  maxNumBatchedTokens?: number;
  /** Longest prompt plus output. [the model's context] */
  maxModelLen?: number;
  /** Tokens a cache block holds; 16 is the only supported value. [16] */
  blockSize?: number;
  /** Size of the key/value cache. [enough for 16 full contexts, at most 256 MiB] */
  kvCacheBytes?: number;
  /** Number of cache blocks; overrides kvCacheBytes. */
  numGpuBlocks?: number;
  /** How weights are kept on the GPU; sums are always f32. ["f16"; "f32" on a software adapter that has no halves] */
  dtype?: WeightsDtype;
  /** ["f16"] */
  kvCacheDtype?: KvCacheDtype;
  /** Seed of the seeds of requests that give none. [random] */
  seed?: number;
  /** Steps that are submitted before the tokens of their predecessor are known, 0 to 4; 0 = wait for each. [2] */
  runAhead?: number;
  /** ["raw_logprobs"] */
  logprobsMode?: LogprobsMode;
  /** Whether full cache blocks are found again by their tokens. [true] */
  enablePrefixCaching?: boolean;
  /** Draft tokens that may come next and check them in one step; null: never. The tokens are the same. [null] */
  speculation?: SpeculationConfig | null;
  /** ["fcfs"] */
  schedulingPolicy?: SchedulingPolicy;
  /** ["continuous"] */
  batchingMode?: BatchingMode;
  /** How long a static batch waits for others to join before it begins. [50] */
  batchWindowMs?: number;
  /** Most rows that one sequence gets of a step: a long prompt comes in pieces of this; 0 = the whole budget. [0] */
  longPrefillTokenThreshold?: number;
  /** Most sequences that may wait; one more is refused with queue_full. null: any number. [null] */
  maxQueueSize?: number | null;
  /** Step time to aim at: the token budget and the number of sequences follow it. null: as configured. [null] */
  targetItlMs?: number | null;
  /** When the "alert" event tells. */
  alerts?: AlertThresholds;
  /** What the engine writes to the console. ["silent"] */
  logLevel?: LogLevel;
}

/** Drafts what followed the end of the text where it stood earlier in prompt or output. */
export interface SpeculationConfig {
  method: "ngram";
  /** Most tokens that are drafted at once. [4] */
  numTokens?: number;
  /** Tokens at the end of the text that must have stood there before. [3] */
  minMatch?: number;
}

/** Each alert is told when its threshold is crossed, and not again before it was back below. null: never. */
export interface AlertThresholds {
  /** Slots in use while requests wait, below this fraction. [0.6] */
  lowOccupancy?: number | null;
  /** Sequences waiting, above this. [100] */
  queueLength?: number | null;
  /** 95th percentile of the inter-token latency over the last 100 steps in ms, above this. [targetItlMs] */
  itlMs?: number | null;
  /** Fraction of the last 100 requests that failed or were refused, above this. [0.05] */
  failureRate?: number | null;
}

/** EngineConfig with everything decided, as the engine uses it. Frozen. */
export interface ResolvedEngineConfig {
  readonly cpuMath: CpuMath;
  /** Null: as many as are fastest. */
  readonly cpuThreads: number | null;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly maxModelLen: number;
  readonly blockSize: number;
  readonly numGpuBlocks: number;
  readonly dtype: WeightsDtype;
  readonly kvCacheDtype: KvCacheDtype;
  readonly seed: number;
  readonly runAhead: number;
  readonly logprobsMode: LogprobsMode;
  readonly enablePrefixCaching: boolean;
  readonly speculation: { readonly numTokens: number; readonly minMatch: number } | null;
  readonly schedulingPolicy: SchedulingPolicy;
  readonly batchingMode: BatchingMode;
  readonly batchWindowMs: number;
  /** 0 = the whole budget. */
  readonly longPrefillTokenThreshold: number;
  /** Infinity = any number. */
  readonly maxQueueSize: number;
  readonly targetItlMs: number | null;
  readonly alerts: { readonly [Name in keyof AlertThresholds]-?: number | null };
  readonly logLevel: LogLevel;
}
