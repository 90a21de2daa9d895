import { isSameLayout } from "../../../files/packing.ts";
import { releaseBytes } from "../../../files/release-bytes.ts";
import { BYTES_PER_ELEMENT, layoutOf, readF32, rowsOf, type Tensor } from "../../../files/tensor.ts";
import { packBand } from "./pack-band.ts";
import { packIntegers } from "./pack-integers.ts";
import type { PanelMatrix } from "./panel-matrix.ts";

/** Most bytes read from a file at a time. */
const BAND_BYTES = 8 * 2 ** 20;
/** A band begins at a multiple of this many rows: no chunk of K is cut. */
const BAND_ROWS = 32;

/**
 * Packs a matrix from a file into panels, with one band of its rows in memory at a time.
 * @param isTransposed whether the file has [n, k]; else [k, n]
 */
export async function packTensor(
  memory: ArrayBufferLike,
  matrix: PanelMatrix,
  tensor: Tensor,
  isTransposed: boolean,
  bandBytes = BAND_BYTES,
): Promise<void> {
  const { rows, columns, dtype, packed } = tensor;
  const { layout } = matrix;
  const isPacked = packed && typeof layout !== "string" && isSameLayout(layoutOf(tensor), layout);
  const rowBytes = columns * (isPacked ? 1 : BYTES_PER_ELEMENT[dtype]);
  const bandRows = BAND_ROWS * Math.max(1, Math.floor(bandBytes / (BAND_ROWS * rowBytes)));
  for (let firstRow = 0; firstRow < rows; firstRow += bandRows) {
    const numRows = Math.min(bandRows, rows - firstRow);
    if (isPacked) {
      const band = await packed.readRows(firstRow, firstRow + numRows);
      packIntegers(memory, matrix, layout, band, { firstN: firstRow, firstK: 0, numN: numRows });
      releaseBytes(band.integers);
      continue;
    }
    const values = await readF32(rowsOf(tensor, firstRow, numRows));
    packBand(memory, matrix, { values, columns, firstRow }, isTransposed);
    releaseBytes(new Uint8Array(values.buffer));
  }
}
