import type { WeightsDtype } from "../../protocol/config.ts";
import { strideOf } from "./padding.ts";

/** The shaders' codes for the layouts of packed weights, as in lib/weights.wgsl. */
export const weightsDtypeCode: Readonly<Record<WeightsDtype, number>> = { f32: 0, f16: 1, q8: 2, q4: 3 };

const BITS: Readonly<Record<WeightsDtype, number>> = { f32: 32, f16: 16, q8: 8, q4: 4 };
const GROUP = 32;

/** Returns the bytes of a packed matrix [k, n] with its padding. See shaders/README.md. */
export function packedBytes(k: number, n: number, dtype: WeightsDtype): number {
  const [kStride, nStride] = [strideOf(k), strideOf(n)];
  const values = (kStride * nStride * BITS[dtype]) / 8;
  if (dtype === "f32" || dtype === "f16") return values;
  // The groups' extremes are a matrix of halves, with two rows in each word.
  return values + 4 * Math.ceil(kStride / GROUP / 2) * nStride;
}
