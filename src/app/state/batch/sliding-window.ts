// Figures over a sliding window. Samples come in order of time, in milliseconds of one clock.

/** Tokens per second over the last `windowMs`. */
export class SlidingRate {
  readonly #windowMs: number;
  readonly #leastSpanMs: number;
  #samples: { readonly startMs: number; readonly atMs: number; readonly count: number }[] = [];

  /** @param leastSpanMs the rate is 0 over a shorter span, where it would be far too high. [0] */
  constructor(windowMs: number, leastSpanMs = 0) {
    this.#windowMs = windowMs;
    this.#leastSpanMs = leastSpanMs;
  }

  /** Adds `count` tokens that were made from `startMs` to `atMs`. */
  add(startMs: number, atMs: number, count: number): void {
    this.#samples.push({ startMs, atMs, count });
    this.#drop(atMs);
  }

  /** Returns the rate per second at `nowMs`. Work that began within the window is measured from its own beginning. */
  at(nowMs: number): number {
    this.#drop(nowMs);
    const oldest = this.#samples[0];
    if (oldest === undefined) return 0;
    const spanMs = Math.max(this.#leastSpanMs, nowMs - Math.max(oldest.startMs, nowMs - this.#windowMs));
    const count = this.#samples.reduce((sum, sample) => sum + sample.count, 0);
    return spanMs > 0 ? (count * 1000) / spanMs : 0;
  }

  #drop(nowMs: number): void {
    const keepFrom = this.#samples.findIndex((sample) => sample.atMs > nowMs - this.#windowMs);
    this.#samples = keepFrom < 0 ? [] : this.#samples.slice(keepFrom);
  }
}

/** The largest value of the last `windowMs`. */
export class SlidingMax {
  readonly #windowMs: number;
  /** Falling values: a smaller value before a larger one can never be the largest again. */
  #falling: { readonly atMs: number; readonly value: number }[] = [];

  constructor(windowMs: number) {
    this.#windowMs = windowMs;
  }

  add(atMs: number, value: number): void {
    while ((this.#falling.at(-1)?.value ?? Infinity) <= value) this.#falling.pop();
    this.#falling.push({ atMs, value });
  }

  at(nowMs: number): number {
    while ((this.#falling[0]?.atMs ?? Infinity) <= nowMs - this.#windowMs) this.#falling.shift();
    return this.#falling[0]?.value ?? 0;
  }
}
