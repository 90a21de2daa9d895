// Predicts a step's time from its rows, by the latest steps.
//
// A step's time is nearly linear in its rows: a + b x rows. Weighted least squares fit the line to the latest steps. If rows
// hardly vary, they don't determine the slope, and the last slope stays. Three outliers in a row are no noise: then the fit
// starts over, and follows a change of the load or the machine within a dozen steps.

/** A step that is i steps old counts this to the power of i: about the last 30 count. */
const FORGETTING = 0.97;
/** Three steps in a row that are off by four mean deviations are a change: earlier steps then count little. */
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
const ROUNDING = 1e-9;

/** The line through the latest steps, which predicts a step's time from its rows. */
export class StepCost {
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
    // A coarse clock may show 0 ms for a quick step.
    if (ms <= 0) return;
    const foreseenMs = this.#slope === null ? ms : this.#at(rows, this.#slope);
    const countedMs = this.#isGuess(rows) ? ms : Math.min(ms, OUTLIER * foreseenMs);
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

  /** Returns the most rows with which 19 of 20 steps take no longer than this. May be less than 1. */
  rowsWithin(targetMs: number): number {
    const noiseMs = Math.min(NOISE_MARGIN * this.#noise, MAX_NOISE_SHARE * targetMs);
    const slope = this.#slope;
    return slope === null ? Infinity : (targetMs - noiseMs - this.#at(0, slope)) / slope;
  }

  /** Returns the expected time of a step with this many rows. NaN before the first step. */
  msOf(rows: number): number {
    return this.#at(rows, this.#slope ?? 0);
  }

  /** Whether the time of this many rows is unknown, since all steps so far had the same, other number of rows. */
  #isGuess(rows: number): boolean {
    const meanRows = this.#rows / this.#weight;
    const variance = this.#rowsRows / this.#weight - meanRows ** 2;
    return variance < ROUNDING * meanRows ** 2 && Math.abs(rows - meanRows) > ROUNDING * meanRows;
  }

  #at(rows: number, slope: number): number {
    return this.#ms / this.#weight + slope * (rows - this.#rows / this.#weight);
  }
}
