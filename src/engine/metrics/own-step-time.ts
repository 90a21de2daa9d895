import type { StepReport } from "../../protocol/reports.ts";
import { percentileOf } from "./percentile.ts";

/** Number of latest decode steps that count. Long, so that an hour of load does not become the measure of itself at once. */
const WINDOW = 1000;
/** The time is known after this many steps, and is updated after each further so many. */
const EVERY = 20;
const QUICK = 0.1;

/** The adapter's own step time: what a quick decode step takes, the lowest tenth of the latest ones. */
export class OwnStepTime {
  /** A ring. */
  readonly #stepsMs = new Float64Array(WINDOW);
  #numSeen = 0;
  /** Milliseconds; null after too few decode steps. */
  ms: number | null = null;

  observe({ promptRows, stepMs }: Pick<StepReport, "promptRows" | "stepMs">): void {
    if (promptRows > 0) return;
    this.#stepsMs[this.#numSeen % WINDOW] = stepMs;
    this.#numSeen += 1;
    if (this.#numSeen % EVERY === 0) this.ms = percentileOf(QUICK, this.#stepsMs.subarray(0, this.#numSeen));
  }
}
