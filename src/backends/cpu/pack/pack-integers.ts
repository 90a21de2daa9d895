// Puts packed rows into panels, four weights of a row at a time.

import { asFloats, type PackedRows, type Packing } from "../../../files/packing.ts";
import { CHUNK, highBits, PANEL_COLUMNS, packedOffsets, panelFormat } from "../kernels/panels.ts";
import { panelAddress, type PanelMatrix } from "./panel-matrix.ts";

const LOW_HALVES = 0x0f0f0f0f;
const HIGH_BITS = [0, 0x01010101, 0x03030303];

interface Place {
  /** Multiples of 8 and of 32. */
  readonly firstN: number;
  readonly firstK: number;
  /** Number of rows, which become columns. */
  readonly numN: number;
}

/** Packs rows. The packed matrix must be zero before. */
export function packIntegers(
  memory: ArrayBufferLike,
  matrix: PanelMatrix,
  packing: Packing,
  rows: PackedRows,
  { firstN, firstK, numN }: Place,
): void {
  const { headBytes, unitChunks, chunkBytes } = panelFormat(packing);
  const at = packedOffsets(packing);
  const unitBytes = headBytes + unitChunks * chunkBytes;
  const { group, block, factor } = packing;
  const width = rows.integers.length / numN;
  const [words, bytes] = [new Uint32Array(memory), new Uint8Array(memory)];
  const moveChunk = packing.bits === 8 ? moveBytes : moveHalves;
  const high = highBits(packing);
  const source = wordsOf(rows.integers);
  const floats = new Float32Array(memory);
  const [d, m] = [asFloats(rows.d), rows.m && asFloats(rows.m)];

  for (let n = 0; n < numN; n++) {
    const panel = panelAddress(matrix, firstN + n);
    const column = (firstN + n) % PANEL_COLUMNS;
    const chunkOf = (k: number) => {
      const chunk = (firstK + k) / CHUNK;
      const unit = Math.floor(chunk / unitChunks);
      return panel + (unit + 1) * headBytes + chunk * chunkBytes;
    };
    for (let k = 0; k < width; k += CHUNK) {
      const chunk = chunkOf(k) / 4;
      const count = Math.min(CHUNK, width - k) / 4;
      moveChunk(words, chunk + at.low / 4, source, (n * width + k) / 4, count, column);
      if (high > 0) moveHighBits(words, chunk + at.high / 4 + column, source, (n * width + k) / 4, count, high);
    }
    for (let i = 0; i < width / block; i++) {
      const k = firstK + i * block;
      const head = panel + Math.floor(k / CHUNK / unitChunks) * unitBytes + (k % CHUNK > 0 ? 4 * PANEL_COLUMNS : 0);
      const from = (n * width) / block + i;
      floats[head / 4 + column] = (d[from] ?? 0) * factor;
      if (m) floats[(head + at.m) / 4 + column] = m[from] ?? 0;
    }
    if (!rows.scales) continue;
    for (let i = 0; i < width / group; i++) {
      const k = i * group;
      const to = chunkOf(k - (k % CHUNK)) + (k % CHUNK > 0 ? PANEL_COLUMNS : 0) + column;
      const from = (n * width) / group + i;
      bytes[to] = rows.scales[from] ?? 0;
      if (rows.minimums) bytes[to + at.minimums] = rows.minimums[from] ?? 0;
    }
  }
}

type MoveChunk = (
  words: Uint32Array,
  to: number,
  source: Uint32Array,
  from: number,
  count: number,
  column: number,
) => void;

/** Moves a column's words of four bytes. */
const moveBytes: MoveChunk = (words, to, source, from, count, column) => {
  for (let i = 0; i < count; i++) words[to + column + PANEL_COLUMNS * i] = source[from + i] ?? 0;
};

/** Moves the low four bits of a column to their half of bytes. */
const moveHalves: MoveChunk = (words, to, source, from, count, column) => {
  const half = PANEL_COLUMNS / 2;
  const shift = column < half ? 0 : 4;
  let at = to + (column % half);
  for (let i = 0; i < count; i++) {
    words[at] = (words[at] ?? 0) | (((source[from + i] ?? 0) & LOW_HALVES) << shift);
    at += half;
  }
};

/** Moves the other bits of a column. */
function moveHighBits(words: Uint32Array, to: number, source: Uint32Array, from: number, count: number, high: number) {
  const [mask = 0, perWord] = [HIGH_BITS[high], 8 / high];
  for (let i = 0; i < count; i++) {
    const at = to + PANEL_COLUMNS * Math.floor(i / perWord);
    words[at] = (words[at] ?? 0) | ((((source[from + i] ?? 0) >>> 4) & mask) << (high * (i % perWord)));
  }
}

function wordsOf(bytes: Uint8Array<ArrayBuffer>): Uint32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(buffer, byteOffset, length / 4);
}
