import { Ring } from "../ring.ts";

export interface Percentiles {
  readonly p50: number;
  readonly p95: number;
  readonly p99: number;
}

/** Returns the smallest value that at least this share (0..1) of the values don't exceed. `sorted` is not empty. */
function nearestRank(sorted: Float64Array, share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? NaN;
}

/** Percentiles over a sliding window of time; of the newest values if there are too many. */
export class SlidingPercentiles {
  readonly #windowMs: number;
  readonly #samples: Ring<{ readonly atMs: number; readonly value: number }>;

  constructor(windowMs: number, mostSamples: number) {
    this.#windowMs = windowMs;
    this.#samples = new Ring(mostSamples);
  }

  add(atMs: number, value: number): void {
    this.#samples.push({ atMs, value });
  }

  /** Returns the percentiles; null if nothing was measured. */
  at(nowMs: number): Percentiles | null {
    const recent = this.#samples.toArray().filter(({ atMs }) => atMs > nowMs - this.#windowMs);
    if (recent.length === 0) return null;
    const sorted = Float64Array.from(recent, ({ value }) => value).sort();
    return { p50: nearestRank(sorted, 0.5), p95: nearestRank(sorted, 0.95), p99: nearestRank(sorted, 0.99) };
  }

  clear(): void {
    this.#samples.clear();
  }
}
