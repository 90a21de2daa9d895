// Weights [K, N] as kernels read them: in panels of 8 columns, which are cut along K into chunks of 32. A group is 4 panels.
//
//   [panel][chunk]: a product reads the 4 panels of a group side by side, chunk after chunk. They are 4 streams in memory, so
//   the processor fetches from 4 pages ahead. As one stream ([group][chunk][panel]) a decode step took up to twice as long on
//   an Intel Xeon after a prompt, when the weights were no longer in the last cache. On an AMD EPYC one stream was the quicker
//   (docs/decisions.md).
//
//   layout      a chunk of a panel                                                                  bytes
//   f32         [32 k][8 columns] f32                                                                1024
//   f16, bf16   [16 words][8 columns]: a word has k and k + 1 of one column                           512
//   8 bits      [8 words][8 columns]: a word has k .. k + 3                                           256
//   4 bits      [8 words][4 columns]: a word has k .. k + 3 of column c in its bytes' low halves,     128
//               of column c + 4 in their high ones
//   5, 6 bits   the low 4 bits as above, then the others: [1][8 columns] or [2][8 columns] words.     160, 192
//               Byte b of a word has 1 or 2 bits each of k = b, 4 + b, ... (of 16 + b, ... the second)
//
// A packed matrix (files/packing.ts) has its scales before the integers. A chunk begins with the integers of two levels: [8]
// bytes of scales and [8] of minimums for each group. Chunks of a block follow their block's head: [8] d and [8] m as f32, twice
// if a chunk has two blocks.
//
// A load that begins some bytes later brings any byte of a word to the bottom of its lane without a shift. A load may end up to
// 3 bytes behind a matrix.

import { hasTwoLevels, TABLES, type Packing, type WeightLayout } from "../../../files/packing.ts";
import type { FunctionBuilder } from "../wasm/function-builder.ts";
import { f32x4, i32x4, i8x16, v128 } from "../wasm/instructions.ts";
import type { I32, Vector } from "../wasm/value.ts";
import type { Arithmetic } from "./arithmetic.ts";
import { HALF_SCALE, movedHalfBits, movedHalves } from "./halves.ts";

/** Values along K that are summed by themselves. */
export const CHUNK = 32;
export const PANEL_COLUMNS = 8;
/** Columns that are computed together: products take a multiple of them. */
export const GROUP_COLUMNS = 32;
export const GROUP_PANELS = GROUP_COLUMNS / PANEL_COLUMNS;
/** Bytes of a word of each column. */
export const WORDS_BYTES = 4 * PANEL_COLUMNS;

/** Where a panel's parts are, in bytes. */
export interface PanelShape {
  /** Of the floats of a block, before its chunks. */
  readonly headBytes: number;
  /** Chunks with one head. */
  readonly unitChunks: number;
  readonly chunkBytes: number;
}

/** Reads the weights of one panel, chunk by chunk. */
interface PanelReader {
  /** Takes the scales of a chunk's group. */
  begin(chunk: I32, head: I32, group: number): void;
  /** Returns the weights of step k of the chunk: of columns 0 to 3 (half 0), or 4 to 7. */
  weights(chunk: I32, k: number, half: number): Vector;
}

export interface PanelFormat extends PanelShape {
  readonly layout: WeightLayout;
  /** Steps with the same scales; at most a chunk's. */
  readonly groupSteps: number;
  /** Creates readers in a function. Where they only add up products, the sign of a weight that is zero needn't be right. */
  readers(f: FunctionBuilder, math: Arithmetic, count: number, use: "sums" | "values"): PanelReader[];
}

/** Returns a name: the same for layouts with the same kernels. Factors are in the scales. */
export function layoutName(layout: WeightLayout): string {
  if (typeof layout === "string") return layout;
  const { bits, centre, group, block, floats, hasMinimum, table } = layout;
  return [bits, centre, group, block, floats, hasMinimum, table].join("_");
}

/** Names of the kernels that read a matrix. */
export interface ReadBy {
  readonly product: `product_${string}`;
  readonly embed: `embed_${string}`;
}

export function kernelsFor(layout: WeightLayout): ReadBy {
  const name = layoutName(layout);
  return { product: `product_${name}`, embed: `embed_${name}` };
}

export function panelFormat(layout: WeightLayout): PanelFormat {
  return typeof layout === "string" ? { ...FLOAT_FORMATS[layout], ...NO_SCALES, layout } : packedFormat(layout);
}

const NO_SCALES = { headBytes: 0, unitChunks: 1, groupSteps: CHUNK };
const FLOAT_FORMATS: Readonly<Record<Extract<WeightLayout, string>, Pick<PanelFormat, "chunkBytes" | "readers">>> = {
  f32: {
    chunkBytes: 4 * CHUNK * PANEL_COLUMNS,
    readers: (_f, _math, count) => unscaled(count, (chunk, k, half) => v128.load(chunk, k * WORDS_BYTES + 16 * half)),
  },
  f16: {
    chunkBytes: 2 * CHUNK * PANEL_COLUMNS,
    readers: (f, _math, count) => {
      const [mask, scale] = [movedHalfBits(f), f.v128(HALF_SCALE)];
      return unscaled(count, (...at) => f32x4.mul(movedHalves(atTop(...at), mask), scale));
    },
  },
  bf16: {
    chunkBytes: 2 * CHUNK * PANEL_COLUMNS,
    readers: (f, _math, count) => {
      const mask = f.v128(i32x4.splat(0xffff0000 | 0));
      return unscaled(count, (...at) => v128.and(atTop(...at), mask));
    },
  },
};

function unscaled(count: number, weights: PanelReader["weights"]): PanelReader[] {
  return Array.from({ length: count }, () => ({ begin: () => undefined, weights }));
}

/** Returns 16 bits of step k in the upper halves of lanes. */
function atTop(chunk: I32, k: number, half: number): Vector {
  const lanes = v128.load(chunk, (k >> 1) * WORDS_BYTES + 16 * half);
  return k % 2 === 0 ? i32x4.shl(lanes, 16) : lanes;
}

/** Where the parts of a packed panel are, in bytes: those of the head, then those of the chunk. */
export function packedOffsets(packing: Packing) {
  const { bits, group, block, hasMinimum } = packing;
  const floats = Math.max(1, CHUNK / block) * WORDS_BYTES;
  const codes = hasTwoLevels(packing) ? Math.max(1, CHUNK / group) * PANEL_COLUMNS : 0;
  const low = codes * (hasMinimum ? 2 : 1);
  return {
    m: floats,
    headBytes: floats * (hasMinimum ? 2 : 1),
    minimums: codes,
    low,
    lowStride: bits === 8 ? WORDS_BYTES : WORDS_BYTES / 2,
    high: low + (bits === 8 ? WORDS_BYTES : WORDS_BYTES / 2) * (CHUNK / 4),
  };
}

/** Bits of a weight that don't lie in its half of a byte. */
export function highBits({ bits }: Packing): number {
  return bits === 8 ? 0 : bits - 4;
}

/** Returns the values at indices in the bytes of lanes; without a table these themselves. */
export function lookedUp(f: FunctionBuilder, { table }: Packing): (indices: Vector) => Vector {
  if (table === null) return (indices) => indices;
  const words = new Int32Array(Uint8Array.from(TABLES[table]).buffer);
  const bytes = f.v128(i32x4.lanes(...(words as unknown as [number, number, number, number])));
  return (indices) => i8x16.swizzle(bytes, indices);
}

/** Returns how the scales of a chunk's group are read, four columns: those of half 0 or of half 1. */
export function packedScales(packing: Packing) {
  const at = packedOffsets(packing);
  const isTwoLevel = hasTwoLevels(packing);
  const scaleOf = (chunk: I32, head: I32, number: number, half: number): Vector => {
    const d = v128.load(head, floatAt(number, half));
    return isTwoLevel ? f32x4.mul(d, asFloats(v128.load8x8S(chunk, PANEL_COLUMNS * number), half)) : d;
  };
  const minimumOf = (chunk: I32, head: I32, number: number, half: number): Vector => {
    const m = v128.load(head, at.m + floatAt(number, half));
    if (!isTwoLevel) return m;
    const minimums = v128.load8x8U(chunk, at.minimums + PANEL_COLUMNS * number);
    return f32x4.neg(f32x4.mul(m, asFloats(minimums, half)));
  };
  const floatAt = (number: number, half: number) => (packing.block < CHUNK ? WORDS_BYTES * number : 0) + 16 * half;
  return { scaleOf, minimumOf };
}

function packedFormat(packing: Packing): PanelFormat {
  const { bits, centre, group, block, floats, hasMinimum, table } = packing;
  const at = packedOffsets(packing);
  const high = highBits(packing);
  /** Factor of the integers as they lie in their lanes. */
  const factor = (half: number) => (bits < 8 && half === 1 && table === null ? 16 : 1);

  /** Returns q times its factor, in integers. */
  const integers = (chunk: I32, k: number, half: number, masks: readonly Vector[]): Vector => {
    const [word, byte] = [k >> 2, k & 3];
    const low = v128.load(chunk, at.low + at.lowStride * word + (bits === 8 ? 16 * half : 0) + byte);
    const lowBits = v128.and(low, masks[half] ?? low);
    if (high === 0) return lowBits;
    const wordsHere = 8 / high;
    const bytes = v128.load(chunk, at.high + WORDS_BYTES * Math.floor(word / wordsHere) + 16 * half + byte);
    const up = 4 + 4 * half - high * (word % wordsHere);
    const moved = up > 0 ? i32x4.shl(bytes, up) : i32x4.shrU(bytes, -up);
    return v128.or(lowBits, v128.and(moved, masks[2 + half] ?? low));
  };

  const { scaleOf, minimumOf } = packedScales(packing);

  return {
    layout: packing,
    headBytes: at.headBytes,
    unitChunks: Math.max(1, block / CHUNK),
    chunkBytes: at.high + high * WORDS_BYTES,
    groupSteps: Math.min(group, CHUNK),
    readers: (f, math, count, use) => {
      const masks = [0, 1].map((half) => f.v128(i32x4.splat(bits === 8 ? 0xff : 0xf << (4 * half))));
      if (high > 0) masks.push(...[0, 1].map((half) => f.v128(i32x4.splat((2 ** high - 1) << (4 + 4 * half)))));
      const byteMask = table === null ? null : f.v128(i32x4.splat(0xff));
      const lookUp = lookedUp(f, packing);
      // A product of few bits is exact, so that q times the scale minus the centre times the scale is, too.
      const isOneStep = use === "sums" && floats === "half" && table === null && !(hasMinimum && centre !== 0);
      return Array.from({ length: count }, () => {
        const [scales, minimums] = [f.vectors(2), f.vectors(2)];
        return {
          begin: (chunk, head, number) => {
            scales.forEach((scale, half) => {
              scale.set(scaleOf(chunk, head, number, half));
              const minimum = minimums[half];
              if (hasMinimum) minimum?.set(minimumOf(chunk, head, number, half));
              else if (isOneStep) minimum?.set(f32x4.mul(scale, -centre));
              if (isOneStep && factor(half) !== 1) scale.set(f32x4.mul(scale, 1 / factor(half)));
            });
          },
          weights: (chunk, k, half) => {
            const stored = integers(chunk, k, half, masks);
            const index = half === 0 ? stored : i32x4.shrU(stored, 4);
            const q = f32x4.convertI32x4S(byteMask ? v128.and(lookUp(index), byteMask) : stored);
            const [scale = q, minimum = q] = [scales[half], minimums[half]];
            if (isOneStep) return math.madd(q, scale, minimum);
            const centred = factor(half) === 1 ? q : f32x4.mul(q, 1 / factor(half));
            const value = f32x4.mul(centre === 0 ? centred : f32x4.sub(centred, centre), scale);
            return hasMinimum ? f32x4.add(value, minimum) : value;
          },
        };
      });
    },
  };
}

/** Returns four of eight integers of 16 bits. */
function asFloats(integers: Vector, half: number): Vector {
  return f32x4.convertI32x4S(half === 0 ? i32x4.extendLowI16x8S(integers) : i32x4.extendHighI16x8S(integers));
}
