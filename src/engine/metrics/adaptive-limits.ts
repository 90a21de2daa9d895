// Limits that follow a latency target.
//
// A step's time is nearly linear in its rows: a + b x rows. Weighted least squares fit the line to the latest steps. If rows
// hardly vary, they don't determine the slope, and the last slope stays. The limit is the number of rows that keeps 19 of 20
// steps within the target. It moves only outside a dead band, which is wider for a change of direction, and by a bounded
// factor per step, so noise moves nothing. Three outliers in a row are no noise: then the fit starts over, and follows a
// change of the load or the machine within a dozen steps.
//
// Memory is a second, slower rule. A preemption shows that more sequences run than the cache holds; then the limit drops to
// the number that was left. While the cache has room, the limit rises by one from time to time.

import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import type { StepReport } from "../../protocol/reports.ts";
import type { SchedulerLimits } from "../scheduling/scheduler-config.ts";

const MIN_BATCHED_TOKENS = 16;
/** Rows, and so sequences, of the first step. Running sequences are never sent away, so the limit starts small and grows. */
const FIRST_ROWS = 2;
/** A step that is i steps old counts this to the power of i: about the last 30 count. */
const FORGETTING = 0.97;
/** Three steps in a row that are off by four times the usual mean a change: earlier steps then count little. */
const SURPRISE = 4;
const SURPRISES = 3;
const FORGETTING_AT_ONCE = 0.1;
const MIN_NOISE = 0.02;
/** The last slope weighs as much as data whose rows vary by this share of their mean. */
const SLOPE_INERTIA = 0.1;
/** Mean absolute deviations up to the 95th percentile of a normal distribution. */
const NOISE_MARGIN = 2.06;
/** Reserves at most this share of the target for noise. */
const MAX_NOISE_SHARE = 0.25;
/** Lower bound of the slope, as a share of the step time predicted from row count alone. Old steps can hide a slope. */
const MIN_SLOPE = 0.2;
/** A step longer than this many times its prediction (background tab, garbage collection) counts as this long. */
const OUTLIER = 2;
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
  readonly #most: SchedulerLimits;
  readonly #cost = new LinearCost();
  #batchedTokens: number;
  #lastMove = 0;
  #memorySeqs: number;
  #stepsWithRoom = 0;
  #lastPreemptions = 0;

  constructor(config: Pick<ResolvedEngineConfig, keyof SchedulerLimits> & { targetItlMs: number }) {
    this.#targetMs = config.targetItlMs;
    this.#most = { maxNumSeqs: config.maxNumSeqs, maxNumBatchedTokens: config.maxNumBatchedTokens };
    this.#batchedTokens = Math.min(FIRST_ROWS, config.maxNumBatchedTokens);
    this.#memorySeqs = config.maxNumSeqs;
  }

  /** Takes a step's report and returns the limits for the next step. */
  observe(report: StepReport): SchedulerLimits {
    this.#cost.observe(report.rows, report.stepMs);
    this.#follow(this.#cost.rowsWithin(this.#targetMs));
    this.#followMemory(report);
    return this.limits;
  }

  /** The limits now. */
  get limits(): SchedulerLimits {
    const { maxNumSeqs, maxNumBatchedTokens } = this.#most;
    return {
      // Each sequence takes one row of every step.
      maxNumSeqs: Math.min(maxNumSeqs, this.#memorySeqs, this.#batchedTokens),
      maxNumBatchedTokens: Math.min(maxNumBatchedTokens, Math.max(MIN_BATCHED_TOKENS, this.#batchedTokens)),
    };
  }

  #follow(rows: number): void {
    const now = this.#batchedTokens;
    const wanted = Math.max(1, Math.min(this.#most.maxNumBatchedTokens, Math.floor(rows)));
    const move = Math.sign(wanted - now);
    if (Math.abs(wanted - now) <= (move === -this.#lastMove ? TURNING_BAND : DEAD_BAND) * now) return;
    this.#batchedTokens = Math.min(Math.ceil(now * MAX_RISE), Math.max(Math.floor(now * MAX_FALL), wanted));
    this.#lastMove = move;
  }

  #followMemory({ numRunning, kvBlocksUsed, kvBlocksTotal, preemptionsTotal }: StepReport): void {
    const use = kvBlocksUsed / kvBlocksTotal;
    if (preemptionsTotal > this.#lastPreemptions) {
      this.#memorySeqs = Math.max(1, Math.min(this.#memorySeqs, numRunning));
      this.#stepsWithRoom = 0;
    } else if (use < NEARLY_FULL && ++this.#stepsWithRoom % STEPS_PER_RISE === 0) {
      this.#memorySeqs = Math.min(this.#most.maxNumSeqs, this.#memorySeqs + 1);
    }
    this.#lastPreemptions = preemptionsTotal;
  }
}

/** The line through the latest steps, which predicts a step's time from its rows. */
class LinearCost {
  // Weighted sums over the steps seen, and the mean absolute deviation from the line.
  #weight = 0;
  #rows = 0;
  #ms = 0;
  #rowsRows = 0;
  #rowsMs = 0;
  #noise = 0;
  /** Number of steps in a row that were far from the line. */
  #surprises = 0;
  #slope: number | null = null;

  observe(rows: number, ms: number): void {
    const foreseenMs = this.#slope === null ? ms : this.#at(rows, this.#slope);
    const countedMs = Math.min(ms, OUTLIER * foreseenMs);
    const deviationMs = Math.abs(countedMs - foreseenMs);
    this.#surprises = deviationMs > SURPRISE * Math.max(this.#noise, MIN_NOISE * foreseenMs) ? this.#surprises + 1 : 0;
    const keep = this.#surprises === SURPRISES ? FORGETTING_AT_ONCE : FORGETTING;
    this.#weight = keep * this.#weight + 1;
    this.#rows = keep * this.#rows + rows;
    this.#ms = keep * this.#ms + countedMs;
    this.#rowsRows = keep * this.#rowsRows + rows * rows;
    this.#rowsMs = keep * this.#rowsMs + rows * countedMs;
    this.#noise = FORGETTING * this.#noise + (1 - FORGETTING) * deviationMs;

    const [meanRows, meanMs] = [this.#rows / this.#weight, this.#ms / this.#weight];
    const variance = this.#rowsRows / this.#weight - meanRows ** 2;
    const covariance = this.#rowsMs / this.#weight - meanRows * meanMs;
    // The line through the origin is the steepest possible one, and the first guess.
    const steepest = meanMs / meanRows;
    const inertia = (SLOPE_INERTIA * meanRows) ** 2;
    const slope = (covariance + inertia * (this.#slope ?? steepest)) / (variance + inertia);
    this.#slope = Math.min(steepest, Math.max(MIN_SLOPE * steepest, slope));
  }

  /** Most rows with which 19 of 20 steps take no longer than this. May be less than 1. */
  rowsWithin(targetMs: number): number {
    const noiseMs = Math.min(NOISE_MARGIN * this.#noise, MAX_NOISE_SHARE * targetMs);
    const slope = this.#slope;
    return slope === null ? Infinity : (targetMs - noiseMs - this.#at(0, slope)) / slope;
  }

  #at(rows: number, slope: number): number {
    return this.#ms / this.#weight + slope * (rows - this.#rows / this.#weight);
  }
}
