// Matrices as integers of a few bits with scales, as files of quantised models have them. Along a row, `group` weights share a
// scale, and `block` weights share d and m, the file's floats:
//
//   one level, block = group     value = (q - centre) * (d * factor) + m
//   two levels, block > group    value = (q - centre) * (d * scale) - m * minimum      scale, minimum: an integer for each group
//
// With halves (q - centre) times its scale is exact in f32, and so is m times its minimum: a value is rounded at most once, in
// the addition. So fused or not, all machines get the same bits. With floats of more bits an engine keeps values, worked out in
// float64.

import { float16ToFloat32 } from "./half.ts";

export interface Packing {
  /** Bits that hold what is stored of a weight on a device: 0 to 2^bits - 1. */
  readonly bits: 4 | 5 | 6 | 8;
  readonly centre: number;
  /** Weights of a row that share a scale. */
  readonly group: 16 | 32 | 64 | 128;
  /** Weights of a row that share d and m: as many as a group's, or 256. */
  readonly block: number;
  readonly floats: "half" | "float";
  /** A power of two; 1 with two levels. */
  readonly factor: number;
  readonly hasMinimum: boolean;
  /** What is stored in place of q: indices, of 4 bits, of this table; null: q itself. */
  readonly table: keyof typeof TABLES | null;
}

/** The values that q can have. */
export const TABLES = {
  iq4: [1, 24, 45, 63, 79, 93, 106, 118, 129, 141, 153, 166, 181, 197, 217, 241],
  fp4: [16, 17, 18, 19, 20, 22, 24, 28, 16, 15, 14, 13, 12, 10, 8, 4],
} as const;

/** Returns a packing of one level, with halves and without minimums but for what is said otherwise. */
export function packed(
  bits: Packing["bits"],
  centre: number,
  group: Packing["group"],
  more: Partial<Packing> = {},
): Packing {
  return { bits, centre, group, block: group, floats: "half", factor: 1, hasMinimum: false, table: null, ...more };
}

/** How a matrix's weights are kept: as floats, or packed. */
export type WeightLayout = "f32" | "f16" | "bf16" | Packing;

/** Rows of a packed matrix, each array row by row. Rows are whole blocks. */
export interface PackedRows {
  /** [rows, columns]: q, or indices of the table */
  readonly integers: Uint8Array<ArrayBuffer>;
  /** [rows, columns / block]: halves as bits, or floats */
  readonly d: Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>;
  /** As d; null without minimums. */
  readonly m: Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer> | null;
  /** [rows, columns / group]; null with one level. */
  readonly scales: Int8Array<ArrayBuffer> | null;
  /** [rows, columns / group]; null with one level, or without minimums. */
  readonly minimums: Uint8Array<ArrayBuffer> | null;
}

/** Returns whether the scales of groups have integers of their own. */
export function hasTwoLevels({ block, group }: Pick<Packing, "block" | "group">): boolean {
  return block > group;
}

/** Returns rows with `weights` weights in all: integers and scales of zero. */
export function zeroRows(packing: Packing, weights: number): PackedRows {
  const { group, block, hasMinimum } = packing;
  const zeros = () =>
    packing.floats === "half" ? new Uint16Array(weights / block) : new Float32Array(weights / block);
  const isTwoLevel = hasTwoLevels(packing);
  return {
    integers: new Uint8Array(weights),
    d: zeros(),
    m: hasMinimum ? zeros() : null,
    scales: isTwoLevel ? new Int8Array(weights / group) : null,
    minimums: isTwoLevel && hasMinimum ? new Uint8Array(weights / group) : null,
  };
}

/** Returns each group's scale and minimum, [rows, columns / group]: exact. Minimums are added; -0 where there are none. */
export function groupScales(
  { group, block, factor }: Packing,
  { d, m, scales, minimums }: PackedRows,
): { readonly scales: Float32Array<ArrayBuffer>; readonly minimums: Float32Array<ArrayBuffer> } {
  const [ds, ms] = [asFloats(d), m && asFloats(m)];
  const groupsPerBlock = block / group;
  const length = ds.length * groupsPerBlock;
  const own = new Float32Array(length);
  const added = new Float32Array(length).fill(-0);
  for (let i = 0; i < length; i++) {
    const at = Math.floor(i / groupsPerBlock);
    own[i] = (ds[at] ?? 0) * (scales ? (scales[i] ?? 0) : factor);
    if (ms) added[i] = minimums ? -(ms[at] ?? 0) * (minimums[i] ?? 0) : (ms[at] ?? 0);
  }
  return { scales: own, minimums: added };
}

/** Returns q of each weight, [rows, columns]. */
export function integersOf({ table }: Packing, { integers }: PackedRows): Uint8Array<ArrayBuffer> {
  return table === null ? integers : integers.map((index) => TABLES[table][index] ?? 0);
}

/** Returns the values of packed rows, [rows, columns]. */
export function unpackRows(packing: Packing, rows: PackedRows): Float32Array<ArrayBuffer> {
  const { scales, minimums } = groupScales(packing, rows);
  const { group, centre } = packing;
  const integers = integersOf(packing, rows);
  const values = new Float32Array(integers.length);
  for (let i = 0, g = 0; i < values.length; g++) {
    const [scale, minimum] = [scales[g] ?? 0, minimums[g] ?? 0];
    for (const end = i + group; i < end; i++) values[i] = ((integers[i] ?? 0) - centre) * scale + minimum;
  }
  return values;
}

/**
 * Returns the layout that has the values of all: their own if they have one. Packings that differ have a wide one; beside
 * floats of another kind all become f32.
 */
export function commonLayout(layouts: readonly WeightLayout[]): WeightLayout {
  const [first = "f32"] = layouts;
  if (layouts.every((layout) => isSameLayout(layout, first))) return first;
  const packings = layouts.filter((layout) => typeof layout !== "string");
  if (packings.length < layouts.length) return "f32";
  const group = packings.reduce<Packing["group"]>((least, one) => (one.group < least ? one.group : least), 128);
  const centre = packings.every((one) => one.centre === 0) ? 0 : 128;
  return packed(8, centre, group, { floats: "float", hasMinimum: packings.some((one) => one.hasMinimum) });
}

export function isSameLayout(a: WeightLayout, b: WeightLayout): boolean {
  if (typeof a === "string" || typeof b === "string") return a === b;
  return Object.entries(a).every(([name, value]) => b[name as keyof Packing] === value);
}

/** Returns rows in a packing that commonLayout made of theirs and others. */
export function widen(packing: Packing, rows: PackedRows, wide: Packing): PackedRows {
  if (isSameLayout(packing, wide)) return rows;
  const { scales, minimums } = groupScales(packing, rows);
  const times = packing.group / wide.group;
  const repeated = (values: Float32Array) =>
    Float32Array.from({ length: values.length * times }, (_, i) => values[Math.floor(i / times)] ?? 0);
  return {
    integers: integersOf(packing, rows).map((q) => q - packing.centre + wide.centre),
    d: repeated(scales),
    m: wide.hasMinimum ? repeated(minimums) : null,
    scales: null,
    minimums: null,
  };
}

/** Returns d or m as floats. */
export function asFloats(values: Uint16Array<ArrayBuffer> | Float32Array<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return values instanceof Float32Array ? values : float16ToFloat32(values);
}
