// Weights [K, N] as kernels read them: in panels of 8 columns, a panel contiguous over all of K, in chunks of 32 k.
//
//   format   a chunk of a panel                                                                     bytes
//   f32      [32 k][8 columns] f32                                                                   1024
//   f16      [16 words][8 columns]: a word has the halves of k and k + 1 of one column                512
//   q8       8 scales over 2^24, then [8 words][8 columns]: a word has bytes k .. k + 3               288
//   q4       8 scales over 2^28, then [4 words][8 columns]: a word has nibbles k .. k + 7             160
//
// Integers come to the top of their lane and stay there: as f32 they are 2^24 or 2^28 times too large, and their scale makes
// up for it, exactly. An unaligned load that begins some bytes early puts any byte of a word there without a shift.

import type { WeightsDtype } from "../../../protocol/config.ts";
import type { FunctionBuilder, Local } from "../wasm/function-builder.ts";
import { f32, f32x4, i32, i32x4, v128 } from "../wasm/instructions.ts";
import type { I32, Value, Vector } from "../wasm/value.ts";
import { halfToF32, HALF_SCALE, movedHalfBits, movedHalves } from "./halves.ts";

/** Values along K that are summed by themselves, and quantised together. */
export const CHUNK = 32;
export const PANEL_COLUMNS = 8;
/** Columns that are computed together: products take a multiple of them. */
export const GROUP_COLUMNS = 32;
export const GROUP_PANELS = GROUP_COLUMNS / PANEL_COLUMNS;

const SCALES_BYTES = 4 * PANEL_COLUMNS;
const WORDS_BYTES = 4 * PANEL_COLUMNS;
const HALF_PANEL_BYTES = 16;

export interface PanelFormat {
  /** Of a panel. */
  readonly chunkBytes: number;
  /** Bytes between k and k + 1, on the average. */
  readonly bytesAStep: number;
  /** Whether a chunk begins with the scales of its columns. */
  readonly isScaled: boolean;
  /** Where a pointer that `weights` takes stands, from the chunk's beginning. */
  readonly firstByte: number;
  /** Steps of K that a pointer stays for, at least. */
  readonly stepsAWord: number;
  /** How many products of one column are best written one after the other in a tile of one row. */
  readonly rowRun: 1 | 2 | 4;
  /** What `weights` needs, made once a function. */
  constants(f: FunctionBuilder): PanelConstants;
  /** Four weights, of k steps after the pointer's and of half 0 or 1 of the panel; integers still without their scale. */
  weights(pointer: I32, k: number, half: number, constants: PanelConstants): Vector;
  /** One weight of a column, k steps after the chunk's beginning; `column`: the chunk's address plus 4 times the column. */
  weight(column: I32, k: number): Value<"f32">;
}

export interface PanelConstants {
  readonly mask: Local<"v128">;
  readonly halfScale: Local<"v128">;
}

const f32Panels: PanelFormat = {
  chunkBytes: 4 * CHUNK * PANEL_COLUMNS,
  bytesAStep: WORDS_BYTES,
  isScaled: false,
  firstByte: 0,
  stepsAWord: 1,
  rowRun: 1,
  constants: (f) => ({ mask: f.v128(), halfScale: f.v128() }),
  weights: (pointer, k, half) => v128.load(pointer, k * WORDS_BYTES + half * HALF_PANEL_BYTES),
  weight: (column, k) => f32.load(column, k * WORDS_BYTES),
};

const f16Panels: PanelFormat = {
  chunkBytes: 2 * CHUNK * PANEL_COLUMNS,
  bytesAStep: WORDS_BYTES / 2,
  isScaled: false,
  firstByte: -2,
  stepsAWord: 2,
  rowRun: 2,
  constants: (f) => ({ mask: movedHalfBits(f), halfScale: f.v128(HALF_SCALE) }),
  weights: (pointer, k, half, { mask, halfScale }) => {
    const lanes = v128.load(pointer, (k >> 1) * WORDS_BYTES + half * HALF_PANEL_BYTES + 2 * (k & 1));
    return f32x4.mul(movedHalves(lanes, mask), halfScale);
  },
  weight: (column, k) => halfToF32(i32.load16U(column, (k >> 1) * WORDS_BYTES + 2 * (k & 1))),
};

/** Of integers of 8 or 4 bits, the lowest first in a word. */
function integerPanels(bits: 8 | 4): PanelFormat {
  const stepsAWord = 32 / bits;
  const topBits = (-1 << (32 - bits)) | 0;
  /** Of the byte that holds step k. */
  const byteOf = (k: number) => ((k % stepsAWord) * bits) >> 3;
  const isLowNibble = (k: number) => bits === 4 && k % 2 === 0;
  return {
    chunkBytes: SCALES_BYTES + (CHUNK / stepsAWord) * WORDS_BYTES,
    bytesAStep: WORDS_BYTES / stepsAWord,
    isScaled: true,
    firstByte: SCALES_BYTES - 3,
    stepsAWord,
    rowRun: 4,
    constants: (f) => ({ mask: f.v128(i32x4.splat(topBits)), halfScale: f.v128() }),
    weights: (pointer, k, half, { mask }) => {
      const word = Math.floor(k / stepsAWord);
      const lanes = v128.load(pointer, word * WORDS_BYTES + half * HALF_PANEL_BYTES + byteOf(k));
      return f32x4.convertI32x4S(v128.and(isLowNibble(k) ? i32x4.shl(lanes, 4) : lanes, mask));
    },
    weight: (column, k) => {
      const word = Math.floor(k / stepsAWord);
      const byte = i32.load8U(column, SCALES_BYTES + word * WORDS_BYTES + byteOf(k));
      const atTop = i32.and(i32.shl(byte, isLowNibble(k) ? 28 : 24), topBits);
      return f32.mul(f32.convertI32S(atTop), f32.load(column));
    },
  };
}

export const PANEL_FORMATS: Readonly<Record<WeightsDtype, PanelFormat>> = {
  f32: f32Panels,
  f16: f16Panels,
  q8: integerPanels(8),
  q4: integerPanels(4),
};

/** Bytes of a panel over all of K; `kStride`: K with its padding. */
export function panelBytes(dtype: WeightsDtype, kStride: number): number {
  return (kStride / CHUNK) * PANEL_FORMATS[dtype].chunkBytes;
}
