import { releaseBytes } from "../../../files/release-bytes.ts";
import { BYTES_PER_ELEMENT, readF32, type Tensor } from "../../../files/tensor.ts";
import { packBand, type Placement } from "./pack-band.ts";
import type { PanelMatrix } from "./panel-matrix.ts";

/** Most bytes read from a file at a time. */
const BAND_BYTES = 8 * 2 ** 20;
/** A band begins at a multiple of this many rows: no chunk of K is cut. */
const BAND_ROWS = 32;

/** Packs a matrix from a file into panels, with one band of its rows in memory at a time. */
export async function packTensor(
  memory: ArrayBufferLike,
  matrix: PanelMatrix,
  tensor: Tensor,
  { isTransposed = false, firstColumn = 0, bandBytes = BAND_BYTES }: Partial<Placement> & { bandBytes?: number } = {},
): Promise<void> {
  const { rows, columns, dtype } = tensor;
  const bandRows = BAND_ROWS * Math.max(1, Math.floor(bandBytes / (BAND_ROWS * columns * BYTES_PER_ELEMENT[dtype])));
  for (let firstRow = 0; firstRow < rows; firstRow += bandRows) {
    const numRows = Math.min(bandRows, rows - firstRow);
    const values = await readF32({
      dtype,
      rows: numRows,
      columns,
      readRows: (begin, end) => tensor.readRows(firstRow + begin, firstRow + end),
    });
    packBand(memory, matrix, { values, columns, firstRow }, { isTransposed, firstColumn });
    releaseBytes(new Uint8Array(values.buffer));
  }
}

/** Copies vectors, a row each, into memory as f32, each padded with zeros to `stride` values. */
export async function packRows(
  memory: ArrayBufferLike,
  address: number,
  tensor: Tensor,
  stride: number,
): Promise<void> {
  const values = await readF32(tensor);
  const floats = new Float32Array(memory);
  for (let row = 0; row < tensor.rows; row++) {
    floats.set(values.subarray(row * tensor.columns, (row + 1) * tensor.columns), address / 4 + row * stride);
  }
}
