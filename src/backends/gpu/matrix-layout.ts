// How a matrix [k, n] lies on the GPU: see shaders/README.md.

import { hasTwoLevels, packed, TABLES } from "../../files/packing.ts";
import type { WeightLayout } from "../../models/weight-layouts.ts";
import { strideOf } from "./padding.ts";

const FLOATS = { f32: 0, f16: 1, bf16: 2 } as const;
export const PACKED = 3;
/** Where nothing is packed these must be numbers that compile. */
const UNPACKED = packed(8, 0, 32);

/** Returns the constants of shaders/lib/layout.wgsl. */
export function layoutConstants(layout: WeightLayout) {
  const isPacked = typeof layout !== "string";
  const { bits, centre, group, block, floats, factor, hasMinimum, table } = isPacked ? layout : UNPACKED;
  const word = (first: number) =>
    table === null ? 0 : new DataView(Uint8Array.from(TABLES[table]).buffer).getUint32(first, true);
  return {
    LAYOUT: isPacked ? PACKED : FLOATS[layout],
    BITS: bits,
    CENTRE: centre,
    GROUP: group,
    BLOCK: block,
    FLOAT_BITS: floats === "half" ? 16 : 32,
    FACTOR: factor,
    HAS_MINIMUM: hasMinimum,
    TABLE_0: word(0),
    TABLE_4: word(4),
    TABLE_8: word(8),
    TABLE_12: word(12),
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
