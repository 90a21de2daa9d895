// Statistics of a list of measurements. NaN means "nothing was measured".

export function sumOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

export function meanOf(values: readonly number[]): number {
  return sumOf(values) / values.length;
}

/** The population's standard deviation, numpy's default. */
export function standardDeviationOf(values: readonly number[]): number {
  const mean = meanOf(values);
  return Math.sqrt(meanOf(values.map((value) => (value - mean) ** 2)));
}

/** Returns a percentile, 0..100, with linear interpolation, numpy's default. */
export function percentileOf(values: readonly number[], percent: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (percent / 100) * (sorted.length - 1);
  const below = sorted[Math.floor(at)] ?? NaN;
  const above = sorted[Math.ceil(at)] ?? NaN;
  return below + (above - below) * (at - Math.floor(at));
}

export function medianOf(values: readonly number[]): number {
  return percentileOf(values, 50);
}

/** Returns the median of each number in objects of one shape; null where one of them has null. */
export function mediansOf<Figures>(rounds: readonly Figures[]): Figures {
  const [first] = rounds as readonly unknown[];
  if (rounds.includes(null as Figures)) return null as Figures;
  if (typeof first !== "object") return medianOf(rounds as readonly number[]) as Figures;
  const names = Object.keys(first ?? {}) as (keyof Figures)[];
  const medians = names.map((name) => [name, mediansOf(rounds.map((round) => round[name]))] as const);
  return (Array.isArray(first) ? medians.map(([, median]) => median) : Object.fromEntries(medians)) as Figures;
}

/** Returns half of the range as a fraction of the median: the x of "±x". NaN for a single value. */
export function spreadOf(values: readonly number[]): number {
  if (values.length < 2) return NaN;
  return (Math.max(...values) - Math.min(...values)) / 2 / medianOf(values);
}

/**
 * Returns the k of the best fit y = c x^k (least squares of the logarithms): 1 is linear, 0 is constant. Points with a
 * zero are left out.
 */
export function growthExponent(points: readonly (readonly [x: number, y: number])[]): number {
  const logs = points.filter(([x, y]) => x > 0 && y > 0).map(([x, y]) => [Math.log(x), Math.log(y)] as const);
  const meanX = meanOf(logs.map(([x]) => x));
  const meanY = meanOf(logs.map(([, y]) => y));
  const covariance = sumOf(logs.map(([x, y]) => (x - meanX) * (y - meanY)));
  return covariance / sumOf(logs.map(([x]) => (x - meanX) ** 2));
}
