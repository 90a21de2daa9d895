// The packing kernel's work in plain JavaScript: its reference, and what other kernels' tests are given.

import { float16ToFloat32, float32ToFloat16 } from "../../src/files/half.ts";
import { strideOf } from "../../src/backends/gpu/padding.ts";
import type { Kept } from "./packed-tensor.ts";

/** A matrix [k, n] in the layout of shaders/README.md, both sides padded with zeros to their stride. */
interface PackedMatrix {
  readonly words: Uint32Array<ArrayBuffer>;
  readonly kStride: number;
  readonly nStride: number;
}

/**
 * Packs a row-major matrix for the matmul kernels. `source` is [k, n] (Hugging Face's Conv1D), or [n, k] with
 * `transposed` (an embedding that serves as the head).
 */
export function packMatrix(
  source: Float32Array,
  k: number,
  n: number,
  dtype: Kept,
  { transposed = false } = {},
): PackedMatrix {
  const kStride = strideOf(k);
  const nStride = strideOf(n);
  const [kStep, nStep] = transposed ? [1, k] : [n, 1];
  const values = new Float32Array(kStride * nStride);
  for (let row = 0; row < k; row++) {
    for (let column = 0; column < n; column++) {
      values[row * nStride + column] = source[row * kStep + column * nStep] ?? 0;
    }
  }
  return { words: packPadded(values, kStride, nStride, dtype), kStride, nStride };
}

function packPadded(values: Float32Array<ArrayBuffer>, k: number, n: number, dtype: Kept) {
  switch (dtype) {
    case "f32":
      return new Uint32Array(values.buffer);
    case "f16":
      return packHalves(float32ToFloat16(values), k, n);
    case "bf16":
      return packHalves(
        Uint16Array.from(new Uint32Array(values.buffer), (bits) => bits >>> 16),
        k,
        n,
      );
    case "q8":
      return quantise(values, k, n, 8);
    case "q4":
      return quantise(values, k, n, 4);
  }
}

function packHalves(halves: Uint16Array, k: number, n: number): Uint32Array<ArrayBuffer> {
  const packed = new Uint16Array(2 * Math.ceil(k / 2) * n);
  for (let row = 0; row < k; row++) {
    // A pair of rows lies together: four columns of the even row, then the same four of the odd one.
    const base = (row >> 1) * 2 * n + 4 * (row & 1);
    for (let column = 0; column < n; column++) {
      packed[base + 8 * (column >> 2) + (column & 3)] = halves[row * n + column] ?? 0;
    }
  }
  return new Uint32Array(packed.buffer);
}

const GROUP = 32;

function quantise(values: Float32Array, k: number, n: number, bits: 8 | 4): Uint32Array<ArrayBuffer> {
  const limit = 2 ** (bits - 1);
  const extremes = new Float32Array((k / GROUP) * n);
  for (let row = 0; row < k; row++) {
    for (let column = 0; column < n; column++) {
      const group = Math.floor(row / GROUP) * n + column;
      const value = values[row * n + column] ?? 0;
      if (Math.abs(value) > Math.abs(extremes[group] ?? 0)) extremes[group] = value;
    }
  }
  const halves = float32ToFloat16(extremes);
  const rounded = float16ToFloat32(halves);
  const integers = new Uint32Array((k * n * bits) / 32);
  for (let row = 0; row < k; row++) {
    for (let column = 0; column < n; column++) {
      const scale = (rounded[Math.floor(row / GROUP) * n + column] ?? 0) / -limit;
      const exact = scale === 0 ? 0 : (values[row * n + column] ?? 0) / scale;
      const integer = limit + Math.min(limit - 1, Math.max(-limit, roundTiesToEven(exact)));
      // A word has a column's next integers along K: four bytes, or eight nibbles, those of the second four above the first.
      const word = Math.floor((row * bits) / 32) * n + column;
      const place = 8 * (row % 4) + (bits === 4 ? row & 4 : 0);
      integers[word] = (integers[word] ?? 0) | (integer << place);
    }
  }
  const scales = packHalves(halves, k / GROUP, n);
  const words = new Uint32Array(integers.length + scales.length);
  words.set(integers);
  words.set(scales, integers.length);
  return words;
}

function roundTiesToEven(value: number): number {
  const below = Math.floor(value);
  const rest = value - below;
  return rest > 0.5 || (rest === 0.5 && below % 2 !== 0) ? below + 1 : below;
}
