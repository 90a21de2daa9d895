import type { RequestMetrics } from "../../src/protocol/request-metrics.ts";
import type { EngineStats, RequestReport, StepEntry, StepReport } from "../../src/protocol/reports.ts";

/** A step's report. A test names only what matters to it; the counts follow from the entries. */
export function sampleStep(changes: Partial<StepReport> = {}): StepReport {
  const entries = changes.entries ?? [];
  return {
    step: 1,
    atMs: 0,
    stepMs: 10,
    cpuMs: 1,
    gpuMs: null,
    rows: entries.reduce((sum, entry) => sum + entry.rows, 0),
    promptRows: entries.reduce((sum, entry) => sum + entry.promptRows, 0),
    sampledTokens: entries.reduce((sum, entry) => sum + (entry.sampled ? 1 + entry.accepted : 0), 0),
    entries,
    maxNumSeqs: 64,
    maxNumBatchedTokens: 256,
    numRunning: entries.length,
    numWaiting: 0,
    waitingIds: [],
    kvBlocksUsed: 0,
    numResidentTokens: 0,
    kvBlocksCached: 0,
    kvBlocksTotal: 100,
    preempted: [],
    preemptionsTotal: 0,
    prefixCacheQueriesTotal: 0,
    prefixCacheHitsTotal: 0,
    ...changes,
  };
}

/** One decode row that gave a token. */
export function sampleEntry(requestId: string, changes: Partial<StepEntry> = {}): StepEntry {
  return {
    requestId,
    index: 0,
    start: 8,
    rows: 1,
    promptRows: 0,
    cachedTokens: 0,
    sampled: true,
    drafted: 0,
    accepted: 0,
    finishReason: null,
    slot: 0,
    blocks: [],
    firstBlock: 0,
    blocksGivenBack: 0,
    ...changes,
  };
}

export function sampleRequest(requestId: string, changes: Partial<RequestReport> = {}): RequestReport {
  return {
    requestId,
    index: 0,
    status: "queued",
    promptTokens: 8,
    outputTokens: 0,
    maxTokens: 16,
    cachedTokens: 0,
    draftTokens: 0,
    acceptedTokens: 0,
    numPreemptions: 0,
    arrivalMs: 0,
    scheduledMs: null,
    firstTokenMs: null,
    finishedMs: null,
    finishReason: null,
    ...changes,
  };
}

export const SAMPLE_METRICS: RequestMetrics = {
  queue_time_ms: 12,
  time_to_first_token_ms: 97.2,
  prefill_time_ms: 85.2,
  generation_time_ms: 1240.5,
  total_time_ms: 1338,
  mean_itl_ms: 9.1,
  p95_itl_ms: 12.4,
  tokens_per_second: 103.2,
  num_steps: 96,
  mean_batch_size: 5.2,
  max_batch_size: 8,
  num_preemptions: 1,
  cached_tokens: 48,
  speculative_decoding: { num_draft_tokens: 80, num_accepted_draft_tokens: 51, draft_acceptance_rate: 51 / 80 },
};

export const SAMPLE_STATS: EngineStats = {
  num_requests_running: 3,
  num_requests_waiting: 2,
  kv_cache_usage_perc: 0.25,
  num_preemptions_total: 1,
  prefix_cache_queries: 100,
  prefix_cache_hits: 40,
  spec_decode_num_drafts_total: 11,
  spec_decode_num_draft_tokens_total: 40,
  spec_decode_num_accepted_tokens_total: 25,
  prompt_tokens_total: 120,
  generation_tokens_total: 77,
  request_success_total: { stop: 5, length: 4, abort: 3 },
  engine_steps_total: 60,
  step_sequences_total: 200,
  device_losses_total: 2,
  num_gpu_blocks: 16,
  num_gpu_blocks_free: 12,
  max_num_seqs: 12,
  slot_usage_perc: 0.25,
  num_resident_tokens: 60,
  max_num_batched_tokens: 256,
  batched_tokens_usage_perc: 0.125,
  gpu_time_usage_perc: 0.75,
};

/** The stats of an engine that has done nothing. */
export const NO_STATS: EngineStats = {
  num_requests_running: 0,
  num_requests_waiting: 0,
  kv_cache_usage_perc: 0,
  num_preemptions_total: 0,
  prefix_cache_queries: 0,
  prefix_cache_hits: 0,
  spec_decode_num_drafts_total: 0,
  spec_decode_num_draft_tokens_total: 0,
  spec_decode_num_accepted_tokens_total: 0,
  prompt_tokens_total: 0,
  generation_tokens_total: 0,
  request_success_total: { stop: 0, length: 0, abort: 0 },
  engine_steps_total: 0,
  step_sequences_total: 0,
  device_losses_total: 0,
  num_gpu_blocks: 0,
  num_gpu_blocks_free: 0,
  max_num_seqs: 0,
  slot_usage_perc: 0,
  num_resident_tokens: 0,
  max_num_batched_tokens: 0,
  batched_tokens_usage_perc: 0,
  gpu_time_usage_perc: null,
};
