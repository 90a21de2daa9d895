import type { ScheduledSequence } from "./sequence.ts";
import type { PlanReport } from "./reports.ts";
import type { StepResult } from "./runner.ts";

/** A step that has been submitted, and whose tokens are not known yet. */
export interface StepInFlight {
  readonly scheduled: readonly ScheduledSequence[];
  readonly others: PlanReport;
  readonly result: Promise<StepResult>;
  readonly startMs: number;
  /** JavaScript time of planning and submitting. */
  readonly cpuMs: number;
}
