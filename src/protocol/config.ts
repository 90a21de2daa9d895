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

/** Which requests are served first and preempted last. Waiting improves the place, so no request starves. */
export type SchedulingPolicy = "fcfs" | "priority" | "shortest-remaining" | "balanced";

/** "static": a batch runs to its end before the next begins. "sequential": one sequence at a time. For comparison. */
export type BatchingMode = "continuous" | "static" | "sequential";

/**
 * Which logits the returned log-probabilities describe. "raw_logprobs": the model's own. "processed_logprobs": those that
 * the token was drawn from, after penalties, biases, grammars, temperature (1 if greedy) and filters, normalised over the
 * remaining tokens; excluded tokens are not returned. Those of a prompt are always raw.
 */
export const LOGPROBS_MODES = ["raw_logprobs", "processed_logprobs"] as const;
export type LogprobsMode = (typeof LOGPROBS_MODES)[number];

export type LogLevel = "silent" | "error" | "warn" | "info" | "debug";

/**
 * A model in Hugging Face layout. "owner/name" is a model of the hub (two names, no slash at the end). Any other string is
 * a folder's URL, absolute or relative to the page ("models/name/", "./models/name"). Or the folder's files.
 */
export type ModelSource = string | File[];

/**
 * Every field is optional. Unknown and out-of-range fields are errors that name the field. In brackets: the default; the
 * unit.
 */
export interface EngineConfig {
  /** "auto": a GPU, else the CPU, else a GPU that software emulates. "webgpu" takes an emulated one, too. ["auto"] */
  backend?: BackendChoice;
  /**
   * "fastest": a multiplication and an addition may be one operation, so other machines may give other bits. "portable": every
   * machine gives the same bits. ["fastest"]
   */
  cpuMath?: CpuMath;
  /** Threads that compute on the CPU. [as many as a short trial finds fastest, fewer than the machine has cores; threads] */
  cpuThreads?: number | null;
  /** Most sequences that run at once. [64; sequences] */
  maxNumSeqs?: number;
  /** Token budget of a step: rows of prompt and decode together. [256, on the CPU 64 or more for maxNumSeqs; rows] */
  maxNumBatchedTokens?: number;
  /** Longest prompt plus output. [the model's context; tokens] */
  maxModelLen?: number;
  /** Tokens per cache block; 16 is the only supported value. [16; tokens] */
  blockSize?: number;
  /** Size of the key/value cache. [enough for 16 full contexts, at most 256 MiB; bytes] */
  kvCacheBytes?: number;
  /** Number of cache blocks; overrides kvCacheBytes. [what kvCacheBytes has room for; blocks] */
  numGpuBlocks?: number;
  /**
   * Format of the weights; sums are always f32. ["f16", but "f32" on the CPU up to 256 MiB and on a software adapter
   * without f16]
   */
  dtype?: WeightsDtype;
  /** Format of the cached keys and values. "f32" takes twice the memory. ["f16"] */
  kvCacheDtype?: KvCacheDtype;
  /** Seed from which requests without a seed get theirs. [random; integer] */
  seed?: number;
  /** Steps to submit before the tokens of an earlier step are known, 0 to 4; 0 waits for each step. [2; steps] */
  runAhead?: number;
  /** Which logits log-probabilities describe: the model's own, or those after all rules and filters. ["raw_logprobs"] */
  logprobsMode?: LogprobsMode;
  /** Whether requests reuse full cache blocks with the same tokens. [true] */
  enablePrefixCaching?: boolean;
  /** Drafts likely next tokens and checks them in one step; null disables it. The output stays the same. [null] */
  speculation?: SpeculationConfig | null;
  /** Which requests are served first and preempted last. Waiting improves the place. ["fcfs"] */
  schedulingPolicy?: SchedulingPolicy;
  /** How requests share steps. "static" and "sequential" are for comparison. ["continuous"] */
  batchingMode?: BatchingMode;
  /** Milliseconds that a static batch waits for more requests before it starts. [50; ms] */
  batchWindowMs?: number;
  /** Most rows per sequence and step, so the chunk size of long prompts; 0 allows the whole budget. [0; rows] */
  longPrefillTokenThreshold?: number;
  /**
   * New prompts get rows of a step until it takes this many times as long as with the running streams alone.
   * A large number lets them use the whole budget. [2; ratio]
   */
  maxStepStretch?: number;
  /** Most sequences that may wait; further ones are refused with queue_full. null sets no limit. [null; sequences] */
  maxQueueSize?: number | null;
  /** Target step time: the token budget and the number of sequences adapt to it. null keeps them fixed. [null; ms] */
  targetItlMs?: number | null;
  /** Thresholds of the "alert" event. [those of AlertThresholds] */
  alerts?: AlertThresholds;
  /** What the engine writes to the console. ["silent"] */
  logLevel?: LogLevel;
}

export type SpeculationConfig = NgramSpeculationConfig | DraftModelSpeculationConfig;

/** Drafts the tokens that followed an earlier occurrence of the text's last tokens, in prompt or output. */
export interface NgramSpeculationConfig {
  /** Names this way of drafting. */
  method: "ngram";
  /** Most tokens per draft. [4; tokens] */
  num_speculative_tokens?: number;
  /** Number of last tokens that must have occurred earlier. [3; tokens] */
  minMatch?: number;
}

/**
 * A small model drafts for the large one: distilgpt2 for gpt2-xl, Qwen3-0.6B for Qwen3-4B. It must have the same tokens, and
 * it takes memory for its weights and for a cache of as many tokens as the large one's.
 */
export interface DraftModelSpeculationConfig {
  /** Names this way of drafting. */
  method: "draft_model";
  /** As createEngine's `model`. A model of the hub comes from the same hub, with the same token, at its main revision. */
  model: ModelSource;
  /** Most tokens per draft. [4; tokens] */
  num_speculative_tokens?: number;
}

/** An alert is raised when its threshold is crossed, and not again until it has recovered. null disables it. */
export interface AlertThresholds {
  /** Raised when requests wait although less than this fraction of the slots is in use. [0.6; fraction] */
  lowOccupancy?: number | null;
  /** Raised when more sequences than this wait. [100; sequences] */
  queueLength?: number | null;
  /**
   * Raised when the 95th percentile of the inter-token latency over the last 100 steps is above this. [targetItlMs, without
   * it four times the adapter's own step time, at least 50; ms]
   */
  itlMs?: number | null;
  /** Raised when more than this fraction of the last 100 requests failed or were refused. [0.05; fraction] */
  failureRate?: number | null;
}

/** AlertThresholds with all defaults filled in. Frozen. */
export interface ResolvedAlertThresholds {
  readonly lowOccupancy: number | null;
  readonly queueLength: number | null;
  /** "auto" follows the adapter's own step time. */
  readonly itlMs: number | "auto" | null;
  readonly failureRate: number | null;
}

/** EngineConfig with all defaults filled in. Frozen. */
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
  readonly speculation:
    | { readonly method: "ngram"; readonly numTokens: number; readonly minMatch: number }
    | { readonly method: "draft_model"; readonly numTokens: number }
    | null;
  readonly schedulingPolicy: SchedulingPolicy;
  readonly batchingMode: BatchingMode;
  readonly batchWindowMs: number;
  /** 0 = the whole budget. */
  readonly longPrefillTokenThreshold: number;
  readonly maxStepStretch: number;
  /** Infinity = any number. */
  readonly maxQueueSize: number;
  readonly targetItlMs: number | null;
  readonly alerts: ResolvedAlertThresholds;
  readonly logLevel: LogLevel;
}
