/** Returns the place of a percentile among `count` sorted values, from 1 on: that of the nearest rank. */
export function rankOf(percentile: number, count: number): number {
  return Math.ceil(percentile * count);
}

/** Returns a percentile (0..1) of the values; null if there are none. */
export function percentileOf(percentile: number, values: ArrayLike<number>): number | null {
  const sorted = new Float64Array(values).sort();
  return sorted[rankOf(percentile, sorted.length) - 1] ?? null;
}
