// What the engine tells while it works. All times are milliseconds of one clock, the worker's performance.now().

import type { BackendName, WeightsDtype } from "./config.ts";
import type { FinishReason } from "./openai.ts";

/** What one sequence did in a step. */
export interface StepEntry {
  readonly requestId: string;
  /** Which of the request's choices. */
  readonly index: number;
  /** First position computed in this step. */
  readonly start: number;
  /** Rows (tokens) computed in this step. */
  readonly rows: number;
  /** Of `rows`, those that belong to the prompt. */
  readonly promptRows: number;
  /** Tokens before `start` that were found in the prefix cache when the sequence was admitted in this step; else 0. */
  readonly cachedTokens: number;
  /** Whether a token was sampled, and taken: what ended in the meantime gets none. */
  readonly sampled: boolean;
  /** Of `rows`, those of draft tokens, and how many of these were taken, each as a token more. */
  readonly drafted: number;
  readonly accepted: number;
  readonly finishReason: FinishReason | null;
}

/** One sequence: a request's choice. */
export interface SequenceId {
  readonly requestId: string;
  readonly index: number;
}

/** One engine step. */
export interface StepReport {
  /** engine_steps_total after this step. */
  readonly step: number;
  /** When the step's tokens were known. */
  readonly atMs: number;
  /** From planning (or from the end of the step before, where steps overlap) to knowing the tokens. */
  readonly stepMs: number;
  /** JavaScript time of planning, encoding and committing. */
  readonly cpuMs: number;
  /** Time of the step's compute pass by timestamp queries; null where the adapter offers none. */
  readonly gpuMs: number | null;
  readonly rows: number;
  readonly promptRows: number;
  readonly sampledTokens: number;
  readonly entries: readonly StepEntry[];
  /** After the step. */
  readonly numRunning: number;
  readonly numWaiting: number;
  /** Requests with a sequence that waited while the step ran, in the queue's order; the first MOST_WAITING_IDS of them. */
  readonly waitingIds: readonly string[];
  readonly kvBlocksUsed: number;
  /** Free blocks whose contents can still be found again. */
  readonly kvBlocksCached: number;
  readonly kvBlocksTotal: number;
  /** Sequences that had to give their blocks up for this step. */
  readonly preempted: readonly SequenceId[];
  /** Since start, as are the two that follow. */
  readonly preemptionsTotal: number;
  /** In tokens: looked up in the prefix cache when sequences were first admitted, and found. */
  readonly prefixCacheQueriesTotal: number;
  readonly prefixCacheHitsTotal: number;
}

export const MOST_WAITING_IDS = 64;

/** What a cache block is: free and empty, free but found again by its tokens, or owned. */
export const KV_BLOCK_STATES = ["free", "cached", "used"] as const;
export type KvBlockState = (typeof KV_BLOCK_STATES)[number];

/** Who has which block of the key/value cache, now. Each array has an item a block. */
export interface KvCacheMap {
  /** Tokens a block holds. */
  readonly blockSize: number;
  /** Index into KV_BLOCK_STATES. */
  readonly states: Uint8Array;
  /** Sequences that share the block. */
  readonly refCounts: Uint16Array;
  /** Index into `sequences`: of those that share the block, the one that is served first. -1: nobody's. */
  readonly owners: Int32Array;
  /** Tokens in the block, those of steps in flight included. */
  readonly filledTokens: Uint8Array;
  /** Those that hold blocks, in the order in which they are served. */
  readonly sequences: readonly SequenceId[];
}

/** The life of one sequence (a request's choice), sent when it is queued, has its first token, and ends. */
export interface RequestReport {
  readonly requestId: string;
  readonly index: number;
  readonly status: "queued" | "first-token" | "finished";
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Prompt tokens found in the prefix cache when it was first scheduled. */
  readonly cachedTokens: number;
  readonly numPreemptions: number;
  readonly arrivalMs: number;
  /** First scheduled; null while it waits. */
  readonly scheduledMs: number | null;
  readonly firstTokenMs: number | null;
  readonly finishedMs: number | null;
  readonly finishReason: FinishReason | null;
}

/** vLLM's metric names without the `vllm:` prefix; counters since start, and gauges of now. */
export interface EngineStats {
  num_requests_running: number;
  num_requests_waiting: number;
  /** 0..1 */
  kv_cache_usage_perc: number;
  num_preemptions_total: number;
  /** In tokens: looked up when sequences are first admitted, and found. Their quotient is the hit rate. */
  prefix_cache_queries: number;
  prefix_cache_hits: number;
  /** Drafts made by speculation, their tokens, and how many of these were taken. */
  spec_decode_num_drafts_total: number;
  spec_decode_num_draft_tokens_total: number;
  spec_decode_num_accepted_tokens_total: number;
  prompt_tokens_total: number;
  generation_tokens_total: number;
  request_success_total: { stop: number; length: number; abort: number };
  /** Steps run, and the sequences in them: their quotient is the mean batch. */
  engine_steps_total: number;
  step_sequences_total: number;
  num_gpu_blocks: number;
  num_gpu_blocks_free: number;
}

/** A threshold was crossed. */
export interface Alert {
  readonly name: "low_occupancy" | "queue_length" | "itl" | "failure_rate";
  readonly value: number;
  readonly threshold: number;
  readonly atMs: number;
  /** As a sentence: what is so, and what would help. */
  readonly message: string;
}

export type LoadStage = "adapter" | "tokenizer" | "weights" | "kernels" | "cache";

/** Progress of createEngine. `done`/`total` are bytes for files, a count for kernels and cache blocks. */
export interface LoadProgress {
  readonly stage: LoadStage;
  readonly done: number;
  readonly total: number;
  /** What was found or made, for people ("Apple M3", "240 blocks"). */
  readonly detail?: string;
}

/** What runs: the model, where, and how. */
export interface ModelCard {
  readonly name: string;
  readonly numParameters: number;
  readonly weightBytes: number;
  readonly contextLength: number;
  readonly vocabSize: number;
  readonly numLayers: number;
  readonly dtype: WeightsDtype;
  readonly kvCacheDtype: string;
  readonly numGpuBlocks: number;
  readonly blockSize: number;
  readonly backend: BackendName;
  /** For people: "Apple M3", "CPU, 3 threads". */
  readonly adapter: string;
  /** Whether it has a chat template. */
  readonly chat: boolean;
  /** Whether a system message reaches it: many small chat models were trained without. */
  readonly readsSystemPrompt: boolean;
  /** What counts where a request doesn't say. */
  readonly defaults: Readonly<Record<"temperature" | "top_p" | "top_k" | "min_p" | "repetition_penalty", number>>;
}
