// The kernels' formulas in float64, as plainly as they can be written.

/** y[r, n] = sum over k of x[r, k] w[k, n] + bias[n] */
export function matmulReference(
  x: Float32Array,
  w: Float32Array,
  bias: Float32Array,
  rows: number,
  k: number,
  n: number,
): Float64Array {
  const y = new Float64Array(rows * n);
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < n; c++) {
      let sum = bias[c] ?? 0;
      for (let i = 0; i < k; i++) sum += (x[r * k + i] ?? 0) * (w[i * n + c] ?? 0);
      y[r * n + c] = sum;
    }
  }
  return y;
}

export function geluTanhReference(x: number): number {
  return 0.5 * x * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (x + 0.044715 * x ** 3)));
}

export function geluErfReference(x: number): number {
  return 0.5 * x * (1 + erf(x / Math.SQRT2));
}

/** Computes erf by its Taylor series, and from 2.5 on by the continued fraction of 1 - erf; both to 1e-13. */
function erf(x: number): number {
  if (Math.abs(x) > 2.5) return Math.sign(x) * (1 - erfc(Math.abs(x)));
  let term = x;
  let sum = x;
  for (let n = 1; n < 100; n++) {
    term *= -(x * x) / n;
    sum += term / (2 * n + 1);
  }
  return (2 / Math.sqrt(Math.PI)) * sum;
}

function erfc(x: number): number {
  let fraction = x;
  for (let n = 60; n > 0; n--) fraction = x + n / 2 / fraction;
  return Math.exp(-x * x) / (Math.sqrt(Math.PI) * fraction);
}

export function layerNormReference(
  x: ArrayLike<number>,
  gamma: Float32Array,
  beta: Float32Array,
  epsilon: number,
): Float64Array {
  const values = Float64Array.from(x);
  const mean = values.reduce((a, b) => a + b, 0) / values.length;
  const variance = values.reduce((a, b) => a + (b - mean) ** 2, 0) / values.length;
  return values.map((value, i) => ((value - mean) / Math.sqrt(variance + epsilon)) * (gamma[i] ?? 0) + (beta[i] ?? 0));
}

export function rmsNormReference(
  x: ArrayLike<number>,
  gamma: Float32Array,
  beta: Float32Array,
  epsilon: number,
): Float64Array {
  const values = Float64Array.from(x);
  const meanSquare = values.reduce((a, b) => a + b ** 2, 0) / values.length;
  return values.map((value, i) => (value / Math.sqrt(meanSquare + epsilon)) * (gamma[i] ?? 0) + (beta[i] ?? 0));
}

export function sigmoidReference(x: number): number {
  return 1 / (1 + Math.exp(-x));
}

export function siluReference(x: number): number {
  return x * sigmoidReference(x);
}

export function relu2Reference(x: number): number {
  return Math.max(0, x) ** 2;
}

/** Pairs (i, i + size / 2) of a head turned by position * frequencies[i], and scaled where they turn. */
export function rotaryReference(
  head: ArrayLike<number>,
  position: number,
  frequencies: readonly number[],
  scaling = 1,
): Float64Array {
  const half = head.length / 2;
  return Float64Array.from({ length: head.length }, (_, i) => {
    const frequency = frequencies[i % half] ?? 0;
    const angle = position * frequency;
    const [a, b] = [head[i % half] ?? 0, head[(i % half) + half] ?? 0];
    const turned = i < half ? a * Math.cos(angle) - b * Math.sin(angle) : b * Math.cos(angle) + a * Math.sin(angle);
    return frequency === 0 ? turned : turned * scaling;
  });
}

/** cap tanh(x / cap); x without a cap. */
export function cappedAt(cap?: number | null): (x: number) => number {
  return cap ? (x) => cap * Math.tanh(x / cap) : (x) => x;
}

/** softmax(cap tanh(scale q . keys / cap)) values, over all keys given. */
export function attentionReference(
  query: ArrayLike<number>,
  keys: readonly ArrayLike<number>[],
  values: readonly ArrayLike<number>[],
  { scale, cap }: { readonly scale: number; readonly cap?: number | null | undefined },
): Float64Array {
  const capped = cappedAt(cap);
  const dot = (key: ArrayLike<number>) => {
    let sum = 0;
    for (let i = 0; i < key.length; i++) sum += (key[i] ?? 0) * (query[i] ?? 0);
    return sum;
  };
  const scores = keys.map((key) => capped(scale * dot(key)));
  const highest = Math.max(...scores);
  const weights = scores.map((score) => Math.exp(score - highest));
  const total = weights.reduce((a, b) => a + b, 0);
  const result = new Float64Array(query.length);
  values.forEach((value, position) => {
    for (let i = 0; i < result.length; i++)
      result[i] = (result[i] ?? 0) + ((weights[position] ?? 0) / total) * (value[i] ?? 0);
  });
  return result;
}
