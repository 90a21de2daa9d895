// The engine's reports. All times are milliseconds of one clock, the worker's performance.now().

import type { ActivationDtype, BackendName, WeightsDtype } from "./config.ts";
import type { ChorusErrorData } from "./errors.ts";
import type { CompletionRequest, FinishReason } from "./openai.ts";

/** One sequence's share of a step. */
export interface StepEntry {
  readonly requestId: string;
  /** Which of the request's choices. */
  readonly index: number;
  /** First position computed in this step. */
  readonly start: number;
  /** Rows (tokens) computed in this step. */
  readonly rows: number;
  /** The part of `rows` that belongs to the prompt. */
  readonly promptRows: number;
  /** Tokens before `start` that the prefix cache had, if this step admitted the sequence; else 0. */
  readonly cachedTokens: number;
  /** Whether the sequence took a sampled token. One that ended meanwhile takes none. */
  readonly sampled: boolean;
  /** Rows of draft tokens, and how many of these the sequence took as additional tokens. */
  readonly drafted: number;
  readonly accepted: number;
  readonly finishReason: FinishReason | null;
  /** The sequence's row of the engine's tables, from 0, until it ends or is preempted. */
  readonly slot: number;
  /** Cache blocks that its block table was given for this step. */
  readonly blocks: readonly number[];
  /** The place in the table of the first of `blocks`; 0 begins a new table. */
  readonly firstBlock: number;
  /** First blocks of the table that it has given back by the end of the step, since no row sees them again. */
  readonly blocksGivenBack: number;
}

/** Returns the number of tokens that the sequence took. */
export function tokensOf({ sampled, accepted }: Pick<StepEntry, "sampled" | "accepted">): number {
  return sampled ? 1 + accepted : 0;
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
  /** From planning to knowing the tokens; if steps overlap, from the end of the step before. */
  readonly stepMs: number;
  /** JavaScript time of planning, encoding and committing. */
  readonly cpuMs: number;
  /**
   * Time of the step's compute pass by timestamp queries; null if the adapter has none. Where the step's kernels were timed:
   * from the beginning of the first one's pass to the end of the last one's, which takes longer.
   */
  readonly gpuMs: number | null;
  readonly rows: number;
  readonly promptRows: number;
  readonly sampledTokens: number;
  readonly entries: readonly StepEntry[];
  /** The config's: slots for sequences, and rows of a step. */
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  /** After the step. */
  readonly numRunning: number;
  readonly numWaiting: number;
  /** The first MAX_WAITING_IDS requests with a waiting sequence, in the queue's order. */
  readonly waitingIds: readonly string[];
  readonly kvBlocksUsed: number;
  /** Tokens of running sequences in the cache. A prefix that they share counts for each. */
  readonly numResidentTokens: number;
  /** Free blocks that the prefix cache can still find. */
  readonly kvBlocksCached: number;
  readonly kvBlocksTotal: number;
  /** Sequences that were preempted for this step. */
  readonly preempted: readonly SequenceId[];
  /** Since start, as are the two that follow. */
  readonly preemptionsTotal: number;
  /** Tokens looked up in the prefix cache at first admissions, and tokens found. */
  readonly prefixCacheQueriesTotal: number;
  readonly prefixCacheHitsTotal: number;
}

/**
 * How long one kernel of a step took, by timestamp queries. Browsers round times: Chromium to 0.1 ms, unless it is started
 * with --enable-webgpu-developer-features.
 */
export interface KernelTime {
  /** A file of `shaders/`, without ".wgsl": "matmul-lane". */
  readonly kernel: string;
  /** The operation of the model: "layer 0 qkv". */
  readonly operation: string;
  /** From the beginning of the step's first kernel to the beginning of this one. */
  readonly startMs: number;
  readonly ms: number;
}

/** The kernels of one step, in order. One step of eight is timed so. */
export interface KernelsReport {
  readonly step: number;
  readonly kernels: readonly KernelTime[];
}

export const MAX_WAITING_IDS = 64;

/** State of a cache block: free, free but in the prefix cache, or owned. */
export const KV_BLOCK_STATES = ["free", "cached", "used"] as const;

/** The owners of all key/value cache blocks now. Each array has one item per block. */
export interface KvCacheMap {
  /** Tokens a block holds. */
  readonly blockSize: number;
  /** Index into KV_BLOCK_STATES. */
  readonly states: Uint8Array;
  /** Sequences that share the block. */
  readonly refCounts: Uint16Array;
  /** Index into `sequences` of the first owner in the order of service; -1 for none. */
  readonly owners: Int32Array;
  /** Tokens in the block, including those of steps in flight. */
  readonly filledTokens: Uint8Array;
  /** Sequences with blocks, in the order of service. */
  readonly sequences: readonly SequenceId[];
}

/**
 * The words of requests, apart from their figures: what was asked, before it is queued, and what each step adds to the
 * answers. Posted only once somebody listens.
 */
export type WordsReport = AskedReport | AnsweredReport;

export interface AskedReport {
  readonly status: "asked";
  readonly requestId: string;
  /** The newest message of the user; of a completion, the prompt. */
  readonly question: string;
  /** The prompt's text, control tokens included. */
  readonly text: string;
  /** What gives the same tokens again from the same model: the prompt as token ids, and the seed that was drawn. */
  readonly body: CompletionRequest & { readonly prompt: number[]; readonly max_tokens: number };
}

export interface AnsweredReport {
  readonly status: "answered";
  /** The step they came from; null: they ended between two steps. */
  readonly step: number | null;
  readonly answers: readonly AnswerWords[];
}

export interface AnswerWords extends SequenceId {
  readonly tokenIds: readonly number[];
  /** May be empty: incomplete characters and possible stop strings come with a later token. */
  readonly text: string;
}

/** The tokens of one key/value cache block now. */
export interface KvBlockTokens {
  /** None: the block is free, and nothing finds it again. */
  readonly tokenIds: readonly number[];
  /** The first owner in the order of service; null: nobody has the block. */
  readonly sequence: SequenceId | null;
  /** Position of its first token in that sequence; null: nobody has the block. */
  readonly start: number | null;
}

/** The life of one sequence (a request's choice), sent when it is queued, has its first token, and ends. */
export interface RequestReport {
  readonly requestId: string;
  readonly index: number;
  readonly status: "queued" | "first-token" | "finished";
  readonly promptTokens: number;
  readonly outputTokens: number;
  /** Most output tokens that it may have: of max_tokens, what the context has room for. */
  readonly maxTokens: number;
  /** Prompt tokens that the prefix cache had when the sequence was first scheduled. */
  readonly cachedTokens: number;
  /** Tokens that speculation drafted so far, and how many of them were accepted. */
  readonly draftTokens: number;
  readonly acceptedTokens: number;
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
  /** Tokens looked up at first admissions, and tokens found. Their quotient is the hit rate. */
  prefix_cache_queries: number;
  prefix_cache_hits: number;
  /** Drafts made by speculation, their tokens, and the accepted ones. */
  spec_decode_num_drafts_total: number;
  spec_decode_num_draft_tokens_total: number;
  spec_decode_num_accepted_tokens_total: number;
  prompt_tokens_total: number;
  generation_tokens_total: number;
  request_success_total: { stop: number; length: number; abort: number };
  /** Steps run, and the sequences in them: their quotient is the mean batch. */
  engine_steps_total: number;
  step_sequences_total: number;
  /** Devices that were lost and replaced, with everything running recomputed. */
  device_losses_total: number;
  num_gpu_blocks: number;
  num_gpu_blocks_free: number;
  /** Slots for sequences that run at once, and the share in use, 0..1. */
  max_num_seqs: number;
  slot_usage_perc: number;
  /** Tokens of running sequences in the cache. A prefix that they share counts for each. */
  num_resident_tokens: number;
  /** Token budget of a step, and the share of it that the last step's rows took, 0..1; 0 while nothing runs. */
  max_num_batched_tokens: number;
  batched_tokens_usage_perc: number;
  /** GPU time of the last step over its whole time; 0 while nothing runs, null where the adapter has no clock. */
  gpu_time_usage_perc: number | null;
}

/** A threshold was crossed, or what crossed it has recovered. */
export interface Alert {
  /** A resolved alert repeats the raised one, but for `atMs`. */
  readonly status: "raised" | "resolved";
  readonly name: "low_occupancy" | "queue_length" | "itl" | "failure_rate";
  readonly value: number;
  readonly threshold: number;
  readonly atMs: number;
  /** A sentence: what is wrong, and what would help. */
  readonly message: string;
}

/** The device was lost, or another one has taken its place. Open requests go on from their tokens. */
export interface DeviceReport {
  /** "changed": some of its kernels give other answers than before, and are no longer used where others can be. */
  readonly status: "lost" | "replaced" | "changed";
  /** What happened to the lost device, or to the changed one. */
  readonly loss: ChorusErrorData;
  /** The name of the device: the lost one's, the new one's, or the changed one's. */
  readonly adapter: string;
}

/** Under "weights" their files arrive; under "memory" they are read into the memory that steps compute with. */
export type LoadStage = "adapter" | "tokenizer" | "weights" | "memory" | "kernels" | "cache";

/**
 * Progress of createEngine. `done`/`total` are bytes for files and memory, a count for kernels and cache blocks. `total`
 * is 0 while it is not known. Kernels that the first step can do without are counted, too: those of a GPU go on being compiled
 * when the engine is ready.
 */
export interface LoadProgress {
  readonly stage: LoadStage;
  readonly done: number;
  readonly total: number;
  /** The result of the stage, for people ("Apple M3", "240 blocks"). */
  readonly detail?: string;
  /** Whether nothing has arrived from the server for some seconds. [false] */
  readonly isWaiting?: boolean;
}

/** The loaded model, with its backend and memory. */
export interface ModelCard {
  readonly name: string;
  readonly numParameters: number;
  readonly weightBytes: number;
  /** Bytes of all blocks together. */
  readonly kvCacheBytes: number;
  readonly contextLength: number;
  /** Tokens of the tokenizer. The embedding may have more rows, which are never drawn. */
  readonly vocabSize: number;
  readonly numLayers: number;
  readonly dtype: WeightsDtype;
  /** Of dtype "stored" the file's types, with their shares of the weights: "Q4_K 64%, Q6_K 36%"; else null. */
  readonly mixture: string | null;
  /** What quantised weights are multiplied with; "f32" if there are none. */
  readonly activationDtype: ActivationDtype;
  readonly kvCacheDtype: string;
  readonly numGpuBlocks: number;
  readonly blockSize: number;
  readonly backend: BackendName;
  /** For people: "Apple M3", "CPU, 3 threads". */
  readonly adapter: string;
  /** For people: why it doesn't run as it usually would, such as a GPU that fails or whose answers were wrong; else null. */
  readonly notice: string | null;
  /** Whether it has a chat template. */
  readonly chat: boolean;
  /** Whether a system message reaches the model: many small chat models were trained without them. */
  readonly readsSystemPrompt: boolean;
  /** Whether `kernels` events can be had. Recordings of before there were any say false. */
  readonly canTimeKernels: boolean;
  /** Defaults for fields that a request leaves out. */
  readonly defaults: Readonly<Record<"temperature" | "top_p" | "top_k" | "min_p" | "repetition_penalty", number>>;
}

/**
 * Returns the GPU's share of a step's time, 0 to 1. Null: the adapter has no clock, or the step took no time by the engine's.
 * Steps that run ahead may be taken in together; the later one's time is then shorter than its work.
 */
export function gpuUseOf({ gpuMs, stepMs }: Pick<StepReport, "gpuMs" | "stepMs">): number | null {
  return gpuMs === null || stepMs <= 0 ? null : Math.min(1, gpuMs / stepMs);
}
