// Limits that follow a latency target.
//
// The limit is the number of rows that keeps 19 of 20 steps within the target, by the cost of the latest steps. It moves only
// outside a dead band, which is wider for a change of direction, and by a bounded factor per step, so noise moves nothing.
//
// Memory is a second, slower rule. A preemption shows that more sequences run than the cache holds; then the limit drops to
// the number that was left. While the cache has room, the limit rises by one from time to time.

import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { StepReport } from "../../protocol/reports.ts";
import type { SchedulerLimits } from "../scheduling/scheduler-config.ts";
import { StepCost } from "./step-cost.ts";

const MIN_BATCHED_TOKENS = 16;
/** Rows, and so sequences, of the first step. Running sequences are never sent away, so the limit starts small and grows. */
const FIRST_ROWS = 2;
/** Dead bands: how far off a limit must be to move on in its last direction, and to reverse. */
const DEAD_BAND = 0.05;
const TURNING_BAND = 0.12;
const MAX_RISE = 1.25;
const MAX_FALL = 0.7;

/** Cache use above which the number of sequences doesn't rise, and the steps below it until it rises by one. */
const NEARLY_FULL = 0.95;
const STEPS_PER_RISE = 8;

/** Computes the limits for the next step after each step. They never exceed the configured ones. */
export class AdaptiveLimits {
  readonly #targetMs: number;
  readonly #max: SchedulerLimits;
  readonly #cost = new StepCost();
  #batchedTokens: number;
  #lastMove = 0;
  #memorySeqs: number;
  #stepsWithRoom = 0;
  #lastPreemptions = 0;

  constructor(config: Pick<ResolvedEngineConfig, keyof SchedulerLimits> & { targetItlMs: number }) {
    this.#targetMs = config.targetItlMs;
    this.#max = { maxNumSeqs: config.maxNumSeqs, maxNumBatchedTokens: config.maxNumBatchedTokens };
    this.#batchedTokens = Math.min(FIRST_ROWS, config.maxNumBatchedTokens);
    this.#memorySeqs = config.maxNumSeqs;
  }

  /**
   * Takes a step's report and returns the limits for the next step.
   * @param isTimed whether its kernels were timed: then it took longer than such a step does, and its time says nothing
   */
  observe(report: StepReport, isTimed = false): SchedulerLimits {
    if (!isTimed) {
      this.#cost.observe(report.rows, report.stepMs);
      this.#follow(this.#cost.rowsWithin(this.#targetMs));
    }
    this.#followMemory(report);
    return this.limits;
  }

  get limits(): SchedulerLimits {
    const { maxNumSeqs, maxNumBatchedTokens } = this.#max;
    return {
      // Each sequence takes one row of every step.
      maxNumSeqs: Math.min(maxNumSeqs, this.#memorySeqs, this.#batchedTokens),
      maxNumBatchedTokens: Math.min(maxNumBatchedTokens, Math.max(MIN_BATCHED_TOKENS, this.#batchedTokens)),
    };
  }

  #follow(rows: number): void {
    const now = this.#batchedTokens;
    const target = Math.max(1, Math.min(this.#max.maxNumBatchedTokens, Math.floor(rows)));
    const move = Math.sign(target - now);
    if (Math.abs(target - now) <= (move === -this.#lastMove ? TURNING_BAND : DEAD_BAND) * now) return;
    this.#batchedTokens = Math.min(Math.ceil(now * MAX_RISE), Math.max(Math.floor(now * MAX_FALL), target));
    this.#lastMove = move;
  }

  #followMemory({ numRunning, kvBlocksUsed, kvBlocksTotal, preemptionsTotal }: StepReport): void {
    const use = kvBlocksUsed / kvBlocksTotal;
    if (preemptionsTotal > this.#lastPreemptions) {
      this.#memorySeqs = Math.max(1, Math.min(this.#memorySeqs, numRunning));
      this.#stepsWithRoom = 0;
    } else if (use < NEARLY_FULL && ++this.#stepsWithRoom % STEPS_PER_RISE === 0) {
      this.#memorySeqs = Math.min(this.#max.maxNumSeqs, this.#memorySeqs + 1);
    }
    this.#lastPreemptions = preemptionsTotal;
  }
}
