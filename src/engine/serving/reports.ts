import type { FinishReason } from "../../protocol/openai.ts";
import {
  gpuUseOf,
  MAX_WAITING_IDS,
  type EngineStats,
  type RequestReport,
  type StepEntry,
  type StepReport,
} from "../../protocol/reports.ts";
import type { Scheduler } from "../scheduling/scheduler.ts";
import type { StepPlan } from "../step-plan.ts";
import type { ScheduledSequence, Sequence } from "../sequence.ts";

/** Counters since the engine's start. They only grow; readers derive rates. */
export interface EngineCounters {
  steps: number;
  /** Sum of the sequences in each step. */
  stepSequences: number;
  promptTokens: number;
  generationTokens: number;
  deviceLosses: number;
  readonly endings: Record<FinishReason, number>;
}

export function newCounters(): EngineCounters {
  return {
    steps: 0,
    stepSequences: 0,
    promptTokens: 0,
    generationTokens: 0,
    deviceLosses: 0,
    endings: { stop: 0, length: 0, abort: 0 },
  };
}

/** The rows and the times of the last step. */
export type LastStep = Pick<StepReport, "rows" | "stepMs" | "gpuMs">;

/** @param last null before the first step */
export function engineStats(scheduler: Scheduler, counters: EngineCounters, last: LastStep | null): EngineStats {
  const { pool, drafter } = scheduler;
  const { maxNumSeqs, maxNumBatchedTokens } = scheduler.sizes;
  const isIdle = scheduler.numRunning === 0;
  return {
    num_requests_running: scheduler.numRunning,
    num_requests_waiting: scheduler.numWaiting,
    kv_cache_usage_perc: pool.numUsed / pool.numBlocks,
    num_preemptions_total: scheduler.numPreemptions,
    prefix_cache_queries: scheduler.prefixCacheQueries,
    prefix_cache_hits: scheduler.prefixCacheHits,
    spec_decode_num_drafts_total: drafter.numDrafts,
    spec_decode_num_draft_tokens_total: drafter.numDraftTokens,
    spec_decode_num_accepted_tokens_total: drafter.numAcceptedTokens,
    prompt_tokens_total: counters.promptTokens,
    generation_tokens_total: counters.generationTokens,
    request_success_total: { ...counters.endings },
    engine_steps_total: counters.steps,
    step_sequences_total: counters.stepSequences,
    device_losses_total: counters.deviceLosses,
    num_gpu_blocks: pool.numBlocks,
    num_gpu_blocks_free: pool.numFree,
    max_num_seqs: maxNumSeqs,
    slot_usage_perc: scheduler.numRunning / maxNumSeqs,
    num_resident_tokens: scheduler.numResidentTokens,
    max_num_batched_tokens: maxNumBatchedTokens,
    batched_tokens_usage_perc: last === null || isIdle ? 0 : last.rows / maxNumBatchedTokens,
    gpu_time_usage_perc: last && (isIdle && last.gpuMs !== null ? 0 : gpuUseOf(last)),
  };
}

export function requestReport(sequence: Sequence, status: RequestReport["status"]): RequestReport {
  return {
    requestId: sequence.requestId,
    index: sequence.index,
    status,
    promptTokens: sequence.promptLength,
    outputTokens: sequence.numOutputTokens,
    maxTokens: sequence.maxLength - sequence.promptLength,
    cachedTokens: sequence.numCachedTokens,
    draftTokens: sequence.numDraftTokens,
    acceptedTokens: sequence.numAcceptedTokens,
    numPreemptions: sequence.numPreemptions,
    arrivalMs: sequence.arrivalMs,
    scheduledMs: sequence.scheduledMs,
    firstTokenMs: sequence.firstTokenMs,
    finishedMs: sequence.finishedMs,
    finishReason: sequence.finishReason,
  };
}

/** A plan's consequences for sequences without rows in it. */
export type PlanReport = Pick<StepReport, "waitingIds" | "preempted">;

/** @param preempted sequences that the new plan preempted */
export function planReport(scheduler: Scheduler, preempted: readonly Sequence[]): PlanReport {
  return {
    waitingIds: scheduler.waitingIds(MAX_WAITING_IDS),
    preempted: preempted.map(({ requestId, index }) => ({ requestId, index })),
  };
}

/** A planned sequence's slot, and the new entries of its block table. */
export type Place = Pick<StepEntry, "slot" | "blocks" | "firstBlock">;

const NO_BLOCKS: readonly number[] = [];

export function placesOf({ sequences, blockTables }: StepPlan): Place[] {
  const places: Place[] = [];
  for (const { slot } of sequences) {
    // Few sequences of a step get blocks.
    const update = blockTables.length === 0 ? undefined : blockTables.find((one) => one.slot === slot);
    places.push({ slot, blocks: update?.values ?? NO_BLOCKS, firstBlock: update?.start ?? 0 });
  }
  return places;
}

/**
 * Returns the report of a finished step, with the scheduler's state after it.
 * @param numTaken tokens that each sequence of the plan took
 */
export function stepReport(
  step: number,
  plan: { readonly scheduled: readonly ScheduledSequence[]; readonly places: readonly Place[] },
  numTaken: readonly number[],
  rest: PlanReport & Pick<StepReport, "atMs" | "stepMs" | "cpuMs" | "gpuMs">,
  scheduler: Scheduler,
): StepReport {
  const { pool, numRunning, numWaiting, numPreemptions, prefixCacheQueries, prefixCacheHits } = scheduler;
  const { maxNumSeqs, maxNumBatchedTokens } = scheduler.sizes;
  const entries = plan.scheduled.map((scheduled, i) => stepEntry(scheduled, plan.places[i], numTaken[i] ?? 0));
  return {
    step,
    ...rest,
    rows: entries.reduce((sum, entry) => sum + entry.rows, 0),
    promptRows: entries.reduce((sum, entry) => sum + entry.promptRows, 0),
    sampledTokens: numTaken.reduce((sum, count) => sum + count, 0),
    entries,
    maxNumSeqs,
    maxNumBatchedTokens,
    numRunning,
    numWaiting,
    kvBlocksUsed: pool.numUsed,
    numResidentTokens: scheduler.numResidentTokens,
    kvBlocksCached: pool.numCached,
    kvBlocksTotal: pool.numBlocks,
    preemptionsTotal: numPreemptions,
    prefixCacheQueriesTotal: prefixCacheQueries,
    prefixCacheHitsTotal: prefixCacheHits,
  };
}

function stepEntry(
  { sequence, start, count, drafts, cachedTokens }: ScheduledSequence,
  place: Place | undefined,
  numTaken: number,
): StepEntry {
  if (place === undefined) throw new Error("A plan gives every sequence a place.");
  // A dropped beam does not end its request, whose name the report has.
  const goesOn = sequence.group !== null && !sequence.group.isFinished;
  return {
    requestId: sequence.requestId,
    index: sequence.index,
    start,
    rows: count,
    promptRows: Math.max(0, Math.min(start + count, sequence.promptLength) - start),
    cachedTokens,
    sampled: numTaken > 0,
    drafted: drafts.length,
    accepted: Math.max(0, numTaken - 1),
    finishReason: goesOn ? null : sequence.finishReason,
    ...place,
    blocksGivenBack: sequence.numFreedBlocks,
  };
}
