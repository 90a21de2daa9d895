// Quantises floats as dtypes q8 and q4 do. The numbers are the GPU's to the bit (shaders/pack-weights.wgsl): a group's d is its
// value farthest from zero, as a half.

import { float16ToFloat32, float32ToFloat16 } from "../../../files/half.ts";
import type { PackedRows, Packing } from "../../../files/packing.ts";
import { strideOf } from "./panel-matrix.ts";

/** A band as columns of K: value (k, n) of it is values[k kStep + n nStep]. */
export interface Source {
  readonly values: ArrayLike<number>;
  readonly kStep: number;
  readonly nStep: number;
  readonly numK: number;
  readonly numN: number;
  /** Position of its first value in the packed matrix. */
  readonly firstK: number;
  readonly firstN: number;
}

/** Added to a float64 and taken away again: rounds to the nearest integer, ties to even. */
const ROUNDER = 1.5 * 2 ** 52;

/** Returns the source's columns as rows of whole groups. */
export function quantise({ group, centre, factor }: Packing, source: Source): PackedRows {
  const { values, kStep, nStep, numK, numN } = source;
  const width = strideOf(numK);
  const groups = width / group;
  const integers = new Uint8Array(numN * width).fill(centre);
  const extremes = new Float32Array(numN * groups);
  // Groups outside and columns inside: the values of a matrix [k, n] lie in this order.
  for (let g = 0; g < groups; g++) {
    const last = Math.min(numK, (g + 1) * group);
    for (let n = 0; n < numN; n++) {
      let extreme = 0;
      for (let k = g * group; k < last; k++) {
        const value = values[k * kStep + n * nStep] ?? 0;
        if (Math.abs(value) > Math.abs(extreme)) extreme = value;
      }
      extremes[n * groups + g] = extreme;
    }
  }
  const d = float32ToFloat16(extremes);
  const scales = float16ToFloat32(d);
  for (let g = 0; g < groups; g++) {
    const last = Math.min(numK, (g + 1) * group);
    for (let n = 0; n < numN; n++) {
      const scale = (scales[n * groups + g] ?? 0) * factor;
      if (scale === 0) continue;
      for (let k = g * group; k < last; k++) {
        const quotient = (values[k * kStep + n * nStep] ?? 0) / scale;
        integers[n * width + k] = centre + Math.min(centre - 1, Math.max(-centre, quotient + ROUNDER - ROUNDER));
      }
    }
  }
  return { integers, d, m: null, scales: null, minimums: null };
}
