// How a matrix [k, n] lies on the GPU: see shaders/README.md.

import { hasTwoLevels } from "../../files/packing.ts";
import type { WeightLayout } from "../../models/weight-layouts.ts";
import { strideOf } from "./padding.ts";

const FLOATS = { f32: 0, f16: 1, bf16: 2 } as const;
export const PACKED = 3;
/** Where nothing is packed these must be numbers that compile. */
const UNPACKED = { bits: 8, centre: 0, group: 32, block: 32, floats: "half", factor: 1, hasMinimum: false } as const;

/** Returns the constants of shaders/lib/layout.wgsl. */
export function layoutConstants(layout: WeightLayout) {
  const isPacked = typeof layout !== "string";
  const { bits, centre, group, block, floats, factor, hasMinimum } = isPacked ? layout : UNPACKED;
  return {
    LAYOUT: isPacked ? PACKED : FLOATS[layout],
    BITS: bits,
    CENTRE: centre,
    GROUP: group,
    BLOCK: block,
    FLOAT_BITS: floats === "half" ? 16 : 32,
    FACTOR: factor,
    HAS_MINIMUM: hasMinimum,
  };
}

/** Returns the bytes of a matrix [k, n] with its padding. */
export function matrixBytes(k: number, n: number, layout: WeightLayout): number {
  const [kStride, nStride] = [strideOf(k), strideOf(n)];
  if (typeof layout === "string") return kStride * nStride * (layout === "f32" ? 4 : 2);
  const { bits, group, block, floats, hasMinimum } = layout;
  const perGroup = hasMinimum ? 2 : 1;
  const codes = hasTwoLevels(layout) ? (kStride / group) * perGroup : 0;
  const wordsOfFloats = ((kStride / block) * perGroup) / (floats === "half" ? 2 : 1);
  // Two halves of two columns are two words, so that a last one takes the room of two.
  return nStride * ((kStride * bits) / 8 + codes + 4 * Math.ceil(wordsOfFloats));
}
