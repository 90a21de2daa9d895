// int8 matrices in a safetensors file, as tools/train/export.py writes them:
//
//   name             I8  [rows, columns]
//   name.extremes    F16 [ceil(rows / 32), columns]: groups of 32 down the columns (Conv1D's [in, out]), or
//                        [rows, ceil(columns / 32)]: groups along the rows (an embedding)
//
//   value = int8 * extreme / -128, where extreme is the value of the element's group that is farthest from zero. The GPU's
//   dtype q8 quantises the same way, so it reproduces the file's integers exactly.

import { releaseBytes } from "./release-bytes.ts";
import type { Tensor } from "./tensor.ts";

export const EXTREMES_SUFFIX = ".extremes";
const GROUP = 32;

/** Returns whether extremes of that shape fit a matrix of these sizes. */
export function isExtremesShape(rows: number, columns: number, shape: readonly number[]): boolean {
  const [height, width] = shape;
  if (shape.length !== 2) return false;
  return (
    (height === Math.ceil(rows / GROUP) && width === columns) ||
    (height === rows && width === Math.ceil(columns / GROUP))
  );
}

interface Int8Parts {
  readonly rows: number;
  readonly columns: number;
  /** Reads the integers of rows [begin, end). */
  readonly readIntegers: (begin: number, end: number) => Promise<Uint8Array<ArrayBuffer>>;
  readonly extremesShape: readonly number[];
  readonly readExtremes: () => Promise<Float32Array<ArrayBuffer>>;
}

/** Returns the matrix as F32. Its integers are converted when they are read. */
export function int8Tensor({ rows, columns, readIntegers, extremesShape, readExtremes }: Int8Parts): Tensor {
  const [height = 0, width = 0] = extremesShape;
  const [rowsAGroup, columnsAGroup] = height === rows && width !== columns ? [1, GROUP] : [GROUP, 1];
  let extremes: Promise<Float32Array> | undefined;
  return {
    dtype: "F32",
    rows,
    columns,
    async readRows(begin, end) {
      extremes ??= readExtremes();
      const [bytes, scales] = await Promise.all([readIntegers(begin, end), extremes]);
      const integers = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
      const values = new Float32Array(integers.length);
      for (let row = begin; row < end; row++) {
        const scaleRow = Math.floor(row / rowsAGroup) * width;
        for (let column = 0; column < columns; column++) {
          const at = (row - begin) * columns + column;
          const extreme = scales[scaleRow + Math.floor(column / columnsAGroup)] ?? 0;
          values[at] = ((integers[at] ?? 0) * extreme) / -128;
        }
      }
      releaseBytes(bytes);
      return new Uint8Array(values.buffer);
    },
  };
}
