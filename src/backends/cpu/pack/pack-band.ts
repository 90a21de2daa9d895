// Packs rows of a matrix, as its file has them, into panels: transposed, rounded or quantised. The numbers are the GPU's to
// the bit (shaders/pack-weights.wgsl): a group's scale is its value farthest from zero, as a half, over -128 or -8.

import { float16ToFloat32, float32ToFloat16 } from "../../../files/half.ts";
import { CHUNK, GROUP_PANELS, PANEL_COLUMNS, PANEL_FORMATS } from "../kernels/panels.ts";
import type { PanelMatrix } from "./panel-matrix.ts";

const CHUNK_BITS = Math.log2(CHUNK);

/** Rows of a matrix, without gaps. */
interface Band {
  readonly values: Float32Array<ArrayBuffer>;
  readonly columns: number;
  /** First row of the band in the file's matrix: a multiple of 32 where rows run along K. */
  readonly firstRow: number;
}

export interface Placement {
  /** Whether the file has [n, k], as nn.Linear and embeddings do; else [k, n], as Conv1D. */
  readonly isTransposed: boolean;
  /** Column of the packed matrix for the file's first one; not 0 where several matrices lie side by side. */
  readonly firstColumn: number;
}

/** Packs a band. The packed matrix must be zero before its first band. */
export function packBand(
  memory: ArrayBufferLike,
  matrix: PanelMatrix,
  { values, columns, firstRow }: Band,
  { isTransposed, firstColumn }: Placement,
): void {
  const rows = values.length / columns;
  const source: Source = isTransposed
    ? { values, kStep: 1, nStep: columns, numK: columns, numN: rows, firstK: 0, firstN: firstColumn + firstRow }
    : { values, kStep: columns, nStep: 1, numK: rows, numN: columns, firstK: firstRow, firstN: firstColumn };
  switch (matrix.dtype) {
    case "f32":
      packFloats(new Float32Array(memory), matrix, source);
      break;
    case "f16":
      packHalves(new Uint16Array(memory), matrix, source);
      break;
    case "q8":
      quantise(memory, matrix, source, 8);
      break;
    case "q4":
      quantise(memory, matrix, source, 4);
      break;
  }
}

/** A band as columns of K: value (k, n) of it is values[k kStep + n nStep]. */
interface Source {
  readonly values: Float32Array<ArrayBuffer>;
  readonly kStep: number;
  readonly nStep: number;
  readonly numK: number;
  readonly numN: number;
  /** Position of its first value in the packed matrix. */
  readonly firstK: number;
  readonly firstN: number;
}

/** Returns the address of column n among the 8 columns of its panel, in its first chunk. */
function columnAddress({ address, groupBytes }: PanelMatrix, n: number): number {
  return address + Math.floor(n / PANEL_COLUMNS) * (groupBytes / GROUP_PANELS) + 4 * (n % PANEL_COLUMNS);
}

function packFloats(memory: Float32Array, matrix: PanelMatrix, source: Source): void {
  const { values, kStep, nStep, numK, numN, firstK, firstN } = source;
  const chunkFloats = PANEL_FORMATS.f32.chunkBytes / 4;
  for (let n = 0; n < numN; n++) {
    const column = columnAddress(matrix, firstN + n) / 4;
    let from = n * nStep;
    for (let k = firstK; k < firstK + numK; k++) {
      memory[column + (k >>> CHUNK_BITS) * chunkFloats + (k & (CHUNK - 1)) * PANEL_COLUMNS] = values[from] ?? 0;
      from += kStep;
    }
  }
}

/** Packs halves: pairs of k share a word. */
function packHalves(memory: Uint16Array, matrix: PanelMatrix, source: Source): void {
  const { values, kStep, nStep, numK, numN, firstK, firstN } = source;
  const halves = float32ToFloat16(values);
  const chunkHalves = PANEL_FORMATS.f16.chunkBytes / 2;
  for (let n = 0; n < numN; n++) {
    const column = columnAddress(matrix, firstN + n) / 2;
    let from = n * nStep;
    for (let k = firstK; k < firstK + numK; k++) {
      const pair = (k & (CHUNK - 1)) >> 1;
      memory[column + (k >>> CHUNK_BITS) * chunkHalves + pair * 2 * PANEL_COLUMNS + (k & 1)] = halves[from] ?? 0;
      from += kStep;
    }
  }
}

/** Added to a float64 and taken away again: rounds to the nearest integer, ties to even. */
const ROUNDER = 1.5 * 2 ** 52;

function quantise(memory: ArrayBufferLike, matrix: PanelMatrix, source: Source, bits: 8 | 4): void {
  const { values, kStep, nStep, numK, numN, firstK, firstN } = source;
  const bytes = new Uint8Array(memory);
  const floats = new Float32Array(memory);
  const bytesAChunk = PANEL_FORMATS[matrix.dtype].chunkBytes;
  const limit = 2 ** (bits - 1);
  // In a kernel, an integer is as large as if its lowest bit were the lowest of its lane's top `bits`.
  const atTop = 2 ** (bits - 32);
  const wordSteps = 32 / bits;
  for (let chunk = 0; chunk < numK; chunk += CHUNK) {
    const steps = Math.min(CHUNK, numK - chunk);
    const scales = extremesOf(source, chunk, steps);
    for (let n = 0; n < numN; n++) {
      const scale = (scales[n] ?? 0) / -limit;
      const column = columnAddress(matrix, firstN + n) + ((firstK + chunk) / CHUNK) * bytesAChunk;
      floats[column / 4] = scale * atTop;
      if (scale === 0) continue;
      const words = column + 4 * PANEL_COLUMNS;
      for (let k = 0; k < steps; k++) {
        const quotient = (values[(chunk + k) * kStep + n * nStep] ?? 0) / scale;
        const integer = Math.min(limit - 1, Math.max(-limit, quotient + ROUNDER - ROUNDER));
        const byte = words + Math.floor(k / wordSteps) * 4 * PANEL_COLUMNS + (((k % wordSteps) * bits) >> 3);
        if (bits === 8) bytes[byte] = integer;
        else bytes[byte] = (bytes[byte] ?? 0) | ((integer & 15) << (4 * (k & 1)));
      }
    }
  }
}

/** Returns each column's value farthest from zero in the chunk, rounded to a half. */
function extremesOf({ values, kStep, nStep, numN }: Source, chunk: number, steps: number): Float32Array {
  const extremes = new Float32Array(numN);
  for (let n = 0; n < numN; n++) {
    let extreme = 0;
    for (let k = 0; k < steps; k++) {
      const value = values[(chunk + k) * kStep + n * nStep] ?? 0;
      if (Math.abs(value) > Math.abs(extreme)) extreme = value;
    }
    extremes[n] = extreme;
  }
  return float16ToFloat32(float32ToFloat16(extremes));
}
