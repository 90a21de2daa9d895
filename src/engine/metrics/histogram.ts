/** A histogram with fixed bucket bounds, as Prometheus has it. */
export class Histogram {
  /** Inclusive upper bounds, in ascending order. Larger values count under +Inf. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    let index = 0;
    for (const bound of this.bounds) {
      if (value <= bound) break;
      index += 1;
    }
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  get sum(): number {
    return this.#sum;
  }

  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  /** Cumulative counts: for each bound the number of values up to it, and last, for +Inf, the number of all values. */
  cumulativeCounts(): number[] {
    let total = 0;
    return this.#counts.map((count) => (total += count));
  }
}

/** Returns 1, 2, 5, 10, 20, 50, ... up to `max`. */
export function oneTwoFiveBounds(max: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; power <= max; power *= 10) {
    bounds.push(...[power, 2 * power, 5 * power].filter((bound) => bound <= max));
  }
  return bounds;
}
