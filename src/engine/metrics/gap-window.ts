/** The inter-token latencies of the last steps. Counts them as they come and go, so that a step costs only its own. */
export class GapWindow {
  readonly #mostSteps: number;
  readonly #steps: (readonly number[])[] = [];
  #count = 0;
  /** Number of gaps longer than `#thresholdMs`. */
  #longer = 0;
  #thresholdMs = Infinity;

  constructor(mostSteps: number) {
    this.#mostSteps = mostSteps;
  }

  get numSteps(): number {
    return this.#steps.length;
  }

  get count(): number {
    return this.#count;
  }

  push(gapsMs: readonly number[]): void {
    this.#steps.push(gapsMs);
    this.#count += gapsMs.length;
    this.#longer += this.#longerOf(gapsMs);
    const gone = this.#steps.length > this.#mostSteps ? this.#steps.shift() : undefined;
    if (gone === undefined) return;
    this.#count -= gone.length;
    this.#longer -= this.#longerOf(gone);
  }

  /** Returns the number of longer gaps. Quick as long as the threshold stays the same. */
  longerThan(thresholdMs: number): number {
    if (thresholdMs !== this.#thresholdMs) {
      this.#thresholdMs = thresholdMs;
      this.#longer = 0;
      for (const gapsMs of this.#steps) this.#longer += this.#longerOf(gapsMs);
    }
    return this.#longer;
  }

  all(): number[] {
    return this.#steps.flat();
  }

  #longerOf(gapsMs: readonly number[]): number {
    let longer = 0;
    for (const gapMs of gapsMs) if (gapMs > this.#thresholdMs) longer += 1;
    return longer;
  }
}
