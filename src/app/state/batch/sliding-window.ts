/** The samples of the last `windowMs`, in order of time, by one clock. */
export class SlidingWindow<Sample extends { readonly atMs: number }> {
  readonly #windowMs: number;
  readonly #most: number;
  #samples: Sample[] = [];

  /** @param most samples that are kept: the newest [all] */
  constructor(windowMs: number, most = Infinity) {
    this.#windowMs = windowMs;
    this.#most = most;
  }

  add(sample: Sample): void {
    this.#samples.push(sample);
    if (this.#samples.length > 2 * this.#most) this.#samples = this.#samples.slice(-this.#most);
  }

  /** Returns the samples in the window at this time, and forgets older ones. */
  at(nowMs: number): readonly Sample[] {
    const keepFrom = this.#samples.findIndex(({ atMs }) => atMs > nowMs - this.#windowMs);
    this.#samples = keepFrom < 0 ? [] : this.#samples.slice(keepFrom).slice(-this.#most);
    return this.#samples;
  }

  clear(): void {
    this.#samples = [];
  }
}
