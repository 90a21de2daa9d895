import type { Runner, StepResult } from "../engine/runner.ts";
import { ROW_WORDS, type DrawNeeds, type StepPlan } from "../engine/step-plan.ts";
import { ChorusError, toChorusError } from "../protocol/errors.ts";

const TICK_MS = 1000;
/** No step counts as stuck sooner. */
const LEAST_LIMIT_MS = 10_000;
/** A step is stuck when it takes this many times as long as recent steps predict. */
const PATIENCE = 10;
const NUM_RECENT = 64;
/** Before any step has ended. Drivers compile kernels when they are first used. */
const FIRST_LIMIT_MS = 60_000;
const FIRST_LIMIT_MS_PER_ROW = 1000;

interface WatchedStep {
  readonly numRows: number;
  readonly startMs: number;
  readonly reject: (error: ChorusError) => void;
}

/**
 * A runner whose steps all end: if the oldest takes far longer than those before it, the device counts as lost. The limit
 * follows the last steps' times, scaled by the number of rows. A GPU needs less per row if there are many, so it is generous.
 */
export class WatchedRunner implements Runner {
  readonly #runner: Runner;
  readonly #now: () => number;
  readonly #causeOf: (error: unknown) => Promise<ChorusError>;
  /** Oldest first. */
  readonly #inFlight: WatchedStep[] = [];
  readonly #recent: { readonly ms: number; readonly numRows: number }[] = [];
  #lastEndMs = -Infinity;
  #timer: ReturnType<typeof setInterval> | null = null;
  /** The oldest step at the last tick, and for how long it has been that. Counted in ticks: no time passes in a frozen page. */
  #oldest: WatchedStep | undefined;
  #waitedMs = 0;

  /** @param now milliseconds @param causeOf says what lies behind an error of the runner */
  constructor(runner: Runner, now: () => number, causeOf = async (error: unknown) => toChorusError(error)) {
    this.#runner = runner;
    this.#now = now;
    this.#causeOf = causeOf;
  }

  submit(plan: StepPlan): Promise<StepResult> {
    const result = this.#runner.submit(plan);
    return new Promise((resolve, reject) => {
      const step: WatchedStep = { numRows: plan.rows.length / ROW_WORDS, startMs: this.#now(), reject };
      this.#inFlight.push(step);
      this.#timer ??= setInterval(() => this.#tick(), TICK_MS);
      const ending =
        <T>(settle: (outcome: T) => void) =>
        (outcome: T) => {
          this.#end(step);
          settle(outcome);
        };
      result.then(ending(resolve), ending(reject));
    });
  }

  missing(needs: DrawNeeds): Promise<void> | null {
    const missing = this.#runner.missing?.(needs) ?? null;
    if (missing === null) return null;
    return missing.catch(async (error: unknown) => {
      throw await this.#causeOf(error);
    });
  }

  #tick(): void {
    const [oldest] = this.#inFlight;
    this.#waitedMs = oldest === this.#oldest ? this.#waitedMs + TICK_MS : 0;
    this.#oldest = oldest;
    if (oldest === undefined) this.#stopTimer();
    else if (this.#waitedMs > this.#limitMs(oldest)) this.#giveUp();
  }

  #stopTimer(): void {
    if (this.#timer !== null) clearInterval(this.#timer);
    this.#timer = null;
  }

  #limitMs({ numRows }: WatchedStep): number {
    if (this.#recent.length === 0) return FIRST_LIMIT_MS + numRows * FIRST_LIMIT_MS_PER_ROW;
    const expectedMs = this.#recent.map((step) => step.ms * Math.max(1, numRows / step.numRows));
    return Math.max(LEAST_LIMIT_MS, PATIENCE * Math.max(...expectedMs));
  }

  #end(step: WatchedStep): void {
    const at = this.#inFlight.indexOf(step);
    if (at < 0) return;
    this.#inFlight.splice(at, 1);
    const nowMs = this.#now();
    // A freeze is no part of the step's time, either.
    const mostMs = (step === this.#oldest ? this.#waitedMs : 0) + 2 * TICK_MS;
    const ms = Math.min(nowMs - Math.max(step.startMs, this.#lastEndMs), mostMs);
    this.#lastEndMs = nowMs;
    this.#recent.push({ ms, numRows: step.numRows });
    if (this.#recent.length > NUM_RECENT) this.#recent.shift();
  }

  #giveUp(): void {
    this.#stopTimer();
    const seconds = Math.round(this.#waitedMs / 1000);
    const message = `A step did not end within ${seconds} seconds, far longer than others.`;
    const error = new ChorusError("device_lost", message);
    for (const { reject } of this.#inFlight.splice(0)) reject(error);
  }
}
