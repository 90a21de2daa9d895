/** How many values were how large, as Prometheus counts them: in buckets with fixed upper bounds. */
export class Histogram {
  /** Upper bounds, each part of its bucket, rising. What is larger than the last is counted under +Inf. */
  readonly bounds: readonly number[];
  readonly #counts: number[];
  #sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.#counts = Array.from({ length: bounds.length + 1 }, () => 0);
  }

  observe(value: number): void {
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    const index = bucket < 0 ? this.bounds.length : bucket;
    this.#counts[index] = (this.#counts[index] ?? 0) + 1;
    this.#sum += value;
  }

  /** Sum of all values. */
  get sum(): number {
    return this.#sum;
  }

  /** Number of all values. */
  get count(): number {
    return this.#counts.reduce((total, count) => total + count, 0);
  }

  /** For each bound, how many values were at most as large; and last, for +Inf, how many there were. */
  cumulativeCounts(): number[] {
    let total = 0;
    return this.#counts.map((count) => (total += count));
  }
}

/** 1, 2, 5, 10, 20, 50, ... up to `max`. */
export function oneTwoFiveBounds(max: number): number[] {
  const bounds: number[] = [];
  for (let power = 1; power <= max; power *= 10) {
    bounds.push(...[power, 2 * power, 5 * power].filter((bound) => bound <= max));
  }
  return bounds;
}
