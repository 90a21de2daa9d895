import { float32ToFloat16 } from "../model/half.ts";
import type { WeightsDtype } from "../protocol/config.ts";
import { strideOf } from "./padding.ts";

/** A matrix [k, n] in the layout of shaders/README.md, both sides padded with zeros to their stride. */
export interface PackedMatrix {
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
  dtype: WeightsDtype,
  { transposed = false } = {},
): PackedMatrix {
  const kStride = strideOf(k);
  const nStride = strideOf(n);
  const [kStep, nStep] = transposed ? [1, k] : [n, 1];
  if (dtype === "f32") {
    const values = new Float32Array(kStride * nStride);
    for (let row = 0; row < k; row++) {
      for (let column = 0; column < n; column++) {
        values[row * nStride + column] = source[row * kStep + column * nStep] ?? 0;
      }
    }
    return { words: new Uint32Array(values.buffer), kStride, nStride };
  }
  const halves = float32ToFloat16(source);
  const packed = new Uint16Array(kStride * nStride);
  for (let row = 0; row < k; row++) {
    // A pair of rows lies together: four columns of the even row, then the same four of the odd one.
    const base = (row >> 1) * 2 * nStride + 4 * (row & 1);
    for (let column = 0; column < n; column++) {
      packed[base + 8 * (column >> 2) + (column & 3)] = halves[row * kStep + column * nStep] ?? 0;
    }
  }
  return { words: new Uint32Array(packed.buffer), kStride, nStride };
}

/** Rows of a matrix, or one vector, as f32 with each row padded to its stride. */
export function padRows(source: Float32Array, rows: number, width: number): Float32Array<ArrayBuffer> {
  const stride = strideOf(width);
  const padded = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row++) padded.set(source.subarray(row * width, (row + 1) * width), row * stride);
  return padded;
}
