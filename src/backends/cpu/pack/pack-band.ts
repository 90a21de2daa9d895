// Packs rows of a matrix, whose file has floats, into panels: transposed, rounded or quantised.

import { float32ToFloat16 } from "../../../files/half.ts";
import { PANEL_COLUMNS } from "../kernels/panels.ts";
import { packIntegers } from "./pack-integers.ts";
import { panelAddress, type PanelMatrix } from "./panel-matrix.ts";
import { quantise, type Source } from "./quantise.ts";

/** Rows of a matrix, without gaps. */
interface Band {
  readonly values: Float32Array<ArrayBuffer>;
  readonly columns: number;
  /** First row of the band in the file's matrix: a multiple of 32 where rows run along K. */
  readonly firstRow: number;
}

/**
 * Packs a band. The packed matrix must be zero before its first band.
 * @param isTransposed whether the file has [n, k], as nn.Linear and embeddings do; else [k, n], as Conv1D
 */
export function packBand(
  memory: ArrayBufferLike,
  matrix: PanelMatrix,
  { values, columns, firstRow }: Band,
  isTransposed: boolean,
): void {
  const rows = values.length / columns;
  const source: Source = isTransposed
    ? { values, kStep: 1, nStep: columns, numK: columns, numN: rows, firstK: 0, firstN: firstRow }
    : { values, kStep: columns, nStep: 1, numK: rows, numN: columns, firstK: firstRow, firstN: 0 };
  const { layout } = matrix;
  if (layout === "f32") packWords(new Float32Array(memory), matrix, source, 1);
  else if (layout === "f16")
    packWords(new Uint16Array(memory), matrix, { ...source, values: float32ToFloat16(values) }, 2);
  else if (layout === "bf16") packWords(new Uint16Array(memory), matrix, { ...source, values: upperHalves(values) }, 2);
  else packIntegers(memory, matrix, layout, quantise(layout, source), source);
}

/** Packs floats, of which a word of 32 bits has one or two. */
function packWords(memory: Float32Array | Uint16Array, matrix: PanelMatrix, source: Source, perWord: 1 | 2): void {
  const { values, kStep, nStep, numK, numN, firstK, firstN } = source;
  const [wordSteps, pair] = [PANEL_COLUMNS * perWord, perWord - 1];
  for (let n = 0; n < numN; n++) {
    const column =
      panelAddress(matrix, firstN + n) / memory.BYTES_PER_ELEMENT + ((firstN + n) % PANEL_COLUMNS) * perWord;
    let from = n * nStep;
    for (let k = firstK; k < firstK + numK; k++) {
      memory[column + (k >> pair) * wordSteps + (k & pair)] = values[from] ?? 0;
      from += kStep;
    }
  }
}

/** Returns floats of 16 bits, which these are, as bfloat16. */
function upperHalves(values: Float32Array<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  const halves = new Uint16Array(values.buffer, values.byteOffset, 2 * values.length);
  return Uint16Array.from({ length: values.length }, (_, i) => halves[2 * i + 1] ?? 0);
}
