/** After this many steps in a row that several threads made slower, one thread goes on alone. */
const PATIENCE = 4;
/** A step is slow if one thread would have taken less than this part of it: the estimate is rough. */
const CLEARLY = 0.8;
/** Steps until the others are tried again. */
const REST_STEPS = 64;

/** A step of several threads, as the calling thread measured it. */
interface SharedStep {
  readonly threads: number;
  readonly stepMs: number;
  /** Time that this thread waited for the others. */
  readonly waitedMs: number;
}

/**
 * Decides how many threads compute the next step. If another program keeps a core busy, threads wait for one another longer
 * than they compute, and one alone is faster. The number changes no bit.
 */
export class ThreadGovernor {
  readonly #most: number;
  #slowSteps = 0;
  #restSteps = 0;

  constructor(most: number) {
    this.#most = most;
  }

  next(): number {
    if (this.#restSteps === 0) return this.#most;
    this.#restSteps--;
    return 1;
  }

  report({ threads, stepMs, waitedMs }: SharedStep): void {
    // This thread had its share of the work: alone it would take `threads` times as long.
    const aloneMs = threads * (stepMs - waitedMs);
    this.#slowSteps = aloneMs < CLEARLY * stepMs ? this.#slowSteps + 1 : 0;
    if (this.#slowSteps < PATIENCE) return;
    this.#slowSteps = 0;
    this.#restSteps = REST_STEPS;
  }
}
