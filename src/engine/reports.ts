import type { RequestReport, StepEntry, StepReport } from "../protocol/reports.ts";
import type { ScheduledSequence } from "./runner.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Sequence } from "./sequence.ts";

/** A moment in a sequence's life. */
export function requestReport(sequence: Sequence, status: RequestReport["status"]): RequestReport {
  return {
    requestId: sequence.requestId,
    index: sequence.index,
    status,
    promptTokens: sequence.promptLength,
    outputTokens: sequence.numOutputTokens,
    arrivalMs: sequence.arrivalMs,
    scheduledMs: sequence.scheduledMs,
    firstTokenMs: sequence.firstTokenMs,
    finishedMs: sequence.finishedMs,
    finishReason: sequence.status.state === "finished" ? sequence.status.reason : null,
  };
}

/** A step that is over, with the state it left the scheduler in. */
export function stepReport(
  step: number,
  plan: readonly ScheduledSequence[],
  times: Pick<StepReport, "atMs" | "stepMs" | "cpuMs">,
  { pool, numRunning, numWaiting }: Scheduler,
): StepReport {
  const entries = plan.map(stepEntry);
  return {
    step,
    ...times,
    rows: entries.reduce((sum, entry) => sum + entry.rows, 0),
    promptRows: entries.reduce((sum, entry) => sum + entry.promptRows, 0),
    sampledTokens: entries.filter((entry) => entry.sampled).length,
    entries,
    numRunning,
    numWaiting,
    kvBlocksUsed: pool.numUsed,
    kvBlocksTotal: pool.numBlocks,
  };
}

function stepEntry({ sequence, start, count, samples }: ScheduledSequence): StepEntry {
  return {
    requestId: sequence.requestId,
    index: sequence.index,
    start,
    rows: count,
    promptRows: Math.max(0, Math.min(start + count, sequence.promptLength) - start),
    sampled: samples,
    finishReason: sequence.status.state === "finished" ? sequence.status.reason : null,
  };
}
