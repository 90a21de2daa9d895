import type { PlanReport } from "./reports.ts";
import type { StepResult } from "./runner.ts";
import type { ScheduledSequence } from "./scheduled-sequence.ts";

/** A step that has been submitted, and whose tokens are not known yet. */
export interface StepInFlight {
  readonly scheduled: readonly ScheduledSequence[];
  readonly others: PlanReport;
  readonly result: Promise<StepResult>;
  readonly startMs: number;
  /** JavaScript time of planning and submitting. */
  readonly cpuMs: number;
}
