import { float32ToFloat16 } from "../../src/files/half.ts";
import { hasTwoLevels, unpackRows, type PackedRows, type Packing } from "../../src/files/packing.ts";
import type { Tensor } from "../../src/files/tensor.ts";
import type { WeightLayout } from "../../src/models/weight-layouts.ts";
import { roundedAs } from "./tensors.ts";

const ONE_LEVEL = { factor: 1, floats: "half", hasMinimum: false, table: null } as const;

/** Packings as files have them, and those of dtypes q8 and q4, by name. */
export const PACKINGS = {
  Q4_0: { ...ONE_LEVEL, bits: 4, centre: 8, group: 32, block: 32 },
  Q4_1: { ...ONE_LEVEL, bits: 4, centre: 0, group: 32, block: 32, hasMinimum: true },
  Q5_0: { ...ONE_LEVEL, bits: 5, centre: 16, group: 32, block: 32 },
  Q5_1: { ...ONE_LEVEL, bits: 5, centre: 0, group: 32, block: 32, hasMinimum: true },
  Q8_0: { ...ONE_LEVEL, bits: 8, centre: 128, group: 32, block: 32 },
  Q2_K: { ...ONE_LEVEL, bits: 4, centre: 0, group: 16, block: 256, hasMinimum: true },
  Q3_K: { ...ONE_LEVEL, bits: 4, centre: 4, group: 16, block: 256 },
  Q4_K: { ...ONE_LEVEL, bits: 4, centre: 0, group: 32, block: 256, hasMinimum: true },
  Q5_K: { ...ONE_LEVEL, bits: 5, centre: 0, group: 32, block: 256, hasMinimum: true },
  Q6_K: { ...ONE_LEVEL, bits: 6, centre: 32, group: 16, block: 256 },
  IQ4_XS: { ...ONE_LEVEL, bits: 4, centre: 128, group: 32, block: 256, table: "iq4" },
  MXFP4: { ...ONE_LEVEL, bits: 4, centre: 16, group: 32, block: 32, floats: "float", table: "fp4" },
  MLX4: { ...ONE_LEVEL, bits: 4, centre: 0, group: 64, block: 64, floats: "float", hasMinimum: true },
  MLX8: { ...ONE_LEVEL, bits: 8, centre: 0, group: 128, block: 128, floats: "float", hasMinimum: true },
  wide: { ...ONE_LEVEL, bits: 8, centre: 128, group: 16, block: 16, floats: "float", hasMinimum: true },
  q8: { ...ONE_LEVEL, bits: 8, centre: 128, group: 32, block: 32, factor: -1 / 128 },
  q4: { ...ONE_LEVEL, bits: 4, centre: 8, group: 32, block: 32, factor: -1 / 8 },
} as const satisfies Record<string, Packing>;

/** How weights are kept that are not packed in their file. */
export type Kept = "f32" | "f16" | "bf16" | "q8" | "q4";

export function layoutOf(kept: Kept): WeightLayout {
  return kept === "q8" || kept === "q4" ? PACKINGS[kept] : kept;
}

/** Returns a matrix [rows, columns] of random integers and scales; some of its halves are subnormal, or zero. */
export function randomPacked(packing: Packing, rows: number, columns: number, seed: number): Tensor {
  const random = lcg(seed);
  const { bits, group, block, hasMinimum } = packing;
  const numBlocks = (rows * columns) / block;
  const numGroups = (rows * columns) / group;
  const isTwoLevel = hasTwoLevels(packing);
  const float = (i: number) => (i % 7 === 3 ? 2 ** -24 * Math.round(9 * random()) : (random() - 0.3) * 0.02);
  const floats = () => {
    const values = Float32Array.from({ length: numBlocks }, (_, i) => float(i));
    // As files of floats have them: times an integer they are exact.
    return packing.floats === "half" ? float32ToFloat16(values) : roundedAs(values, "BF16");
  };
  const all: PackedRows = {
    integers: Uint8Array.from({ length: rows * columns }, () => Math.floor(random() * 2 ** bits)),
    d: floats(),
    m: hasMinimum ? floats() : null,
    scales: isTwoLevel ? Int8Array.from({ length: numGroups }, () => Math.floor(random() * 100) - 36) : null,
    minimums: isTwoLevel && hasMinimum ? Uint8Array.from({ length: numGroups }, () => Math.floor(random() * 64)) : null,
  };
  const part = <A extends { slice(from: number, to: number): A }>(array: A, share: number, from: number, to: number) =>
    array.slice((from * columns) / share, (to * columns) / share);
  const readPacked = (from: number, to: number): PackedRows => ({
    integers: part(all.integers, 1, from, to),
    d: part<typeof all.d & { slice(a: number, b: number): typeof all.d }>(all.d, block, from, to),
    m: all.m && part<typeof all.d & { slice(a: number, b: number): typeof all.d }>(all.m, block, from, to),
    scales: all.scales && part(all.scales, group, from, to),
    minimums: all.minimums && part(all.minimums, group, from, to),
  });
  return {
    dtype: "F32",
    rows,
    columns,
    packed: { packing, readRows: (from, to) => Promise.resolve(readPacked(from, to)) },
    readRows: (from, to) => Promise.resolve(new Uint8Array(unpackRows(packing, readPacked(from, to)).buffer)),
  };
}

function lcg(seed: number): () => number {
  let state = seed >>> 0;
  return () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
}
