/** Returns the place of a percentile among `count` sorted values, from 1 on: that of the nearest rank. */
export function rankOf(percentile: number, count: number): number {
  return Math.ceil(percentile * count);
}

/** Returns a percentile (0..1) of the values; null if there are none. */
export function percentileOf(percentile: number, values: readonly number[]): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[rankOf(percentile, sorted.length) - 1] ?? null;
}
