// Weights [K, N] as kernels read them: in panels of 8 columns, which are cut along K into chunks of 32. A group is 4 panels.
//
//   [panel][chunk]: a product reads the 4 panels of a group side by side, chunk after chunk. They are 4 streams in memory, so
//   the processor fetches from 4 pages ahead. As one stream ([group][chunk][panel]) a decode step took up to twice as long on
//   an Intel Xeon after a prompt, when the weights were no longer in the last cache. On an AMD EPYC one stream was the quicker
//   (docs/decisions.md).
//
//   format   a chunk of a panel                                                                     bytes
//   f32      [32 k][8 columns] f32                                                                   1024
//   f16      [16 words][8 columns]: a word has the halves of k and k + 1 of one column                512
//   q8       8 scales over 2^24, then [8 words][8 columns]: a word has bytes k .. k + 3               288
//   q4       8 scales over 2^28, then [4 words][8 columns]: a word has nibbles k .. k + 7             160
//
// Integers are loaded into the top of their lane and stay there: as f32 they are 2^24 or 2^28 times too large, and their scale
// corrects that exactly. An unaligned load that begins some bytes early puts any byte of a word there without a shift.

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

/** How a tile reads the weights of a chunk. */
export interface ChunkFormat {
  /** Size of a panel's chunk. */
  readonly chunkBytes: number;
  /** Bytes between k and k + 1, on the average. */
  readonly bytesPerStep: number;
  /** Whether a chunk begins with the scales of its columns. */
  readonly isScaled: boolean;
  /** Offset in the chunk of the pointer that `weights` takes. */
  readonly firstByte: number;
  /** Creates the constants that `weights` needs, once per function. */
  constants(f: FunctionBuilder): PanelConstants;
  /** Returns four weights, k steps after the pointer's: columns 0 to 3 at `offset` 0, 4 to 7 at 16. Integers lack their scale. */
  weights(pointer: I32, k: number, offset: number, constants: PanelConstants): Vector;
}

/** How weights are kept. */
export interface PanelFormat extends ChunkFormat {
  /** Format of a chunk of the same values as f32, for products of many rows; null if it is f32 already. */
  readonly unpacked: ChunkFormat | null;
  /** Returns one weight of a column, k steps after the chunk's beginning; `column`: the chunk's address plus 4 times the column. */
  weight(column: I32, k: number): Value<"f32">;
}

interface PanelConstants {
  readonly mask: Local<"v128">;
  readonly halfScale: Local<"v128">;
}

/** Returns the format [32 k][8 columns] f32, after 8 scales if there are any. */
function f32Chunk(isScaled: boolean): ChunkFormat {
  const firstByte = isScaled ? SCALES_BYTES : 0;
  return {
    chunkBytes: firstByte + 4 * CHUNK * PANEL_COLUMNS,
    bytesPerStep: WORDS_BYTES,
    isScaled,
    firstByte,
    constants: (f) => ({ mask: f.v128(), halfScale: f.v128() }),
    weights: (pointer, k, offset) => v128.load(pointer, k * WORDS_BYTES + offset),
  };
}

const f32Panels: PanelFormat = {
  ...f32Chunk(false),
  unpacked: null,
  weight: (column, k) => f32.load(column, k * WORDS_BYTES),
};

const f16Panels: PanelFormat = {
  chunkBytes: 2 * CHUNK * PANEL_COLUMNS,
  bytesPerStep: WORDS_BYTES / 2,
  isScaled: false,
  firstByte: -2,
  unpacked: f32Chunk(false),
  constants: (f) => ({ mask: movedHalfBits(f), halfScale: f.v128(HALF_SCALE) }),
  weights: (pointer, k, offset, { mask, halfScale }) => {
    const lanes = v128.load(pointer, (k >> 1) * WORDS_BYTES + offset + 2 * (k & 1));
    return f32x4.mul(movedHalves(lanes, mask), halfScale);
  },
  weight: (column, k) => halfToF32(i32.load16U(column, (k >> 1) * WORDS_BYTES + 2 * (k & 1))),
};

/** Returns the format for integers of 8 or 4 bits, the lowest first in a word. */
function integerPanels(bits: 8 | 4): PanelFormat {
  const stepsPerWord = 32 / bits;
  const topBits = (-1 << (32 - bits)) | 0;
  /** Offset of the byte that holds step k. */
  const byteOf = (k: number) => ((k % stepsPerWord) * bits) >> 3;
  const isLowNibble = (k: number) => bits === 4 && k % 2 === 0;
  return {
    chunkBytes: SCALES_BYTES + (CHUNK / stepsPerWord) * WORDS_BYTES,
    bytesPerStep: WORDS_BYTES / stepsPerWord,
    isScaled: true,
    firstByte: SCALES_BYTES - 3,
    unpacked: f32Chunk(true),
    constants: (f) => ({ mask: f.v128(i32x4.splat(topBits)), halfScale: f.v128() }),
    weights: (pointer, k, offset, { mask }) => {
      const word = Math.floor(k / stepsPerWord);
      const lanes = v128.load(pointer, word * WORDS_BYTES + offset + byteOf(k));
      return f32x4.convertI32x4S(v128.and(isLowNibble(k) ? i32x4.shl(lanes, 4) : lanes, mask));
    },
    weight: (column, k) => {
      const word = Math.floor(k / stepsPerWord);
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
