/**
 * Row strides are multiples of this. It is the chunk of K in the order of additions, so no inner loop has a remainder. See
 * shaders/README.md.
 */
const STRIDE_ALIGNMENT = 32;

/** WebGPU's strictest alignment of a bound offset. */
export const SECTION_BYTES = 256;

export function padTo(multiple: number, size: number): number {
  return Math.ceil(size / multiple) * multiple;
}

export function strideOf(width: number): number {
  return padTo(STRIDE_ALIGNMENT, width);
}

/** Returns a matrix, or a vector as one row, with each row padded to its stride. */
export function padRows(source: Float32Array, rows: number, width: number): Float32Array<ArrayBuffer> {
  const stride = strideOf(width);
  const padded = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row++) padded.set(source.subarray(row * width, (row + 1) * width), row * stride);
  return padded;
}

/** Returns the transpose of a matrix of `rows` rows: `strideOf(width)` rows, each padded with zeros to `strideOf(rows)`. */
export function padTransposed(source: Float32Array, rows: number, width: number): Float32Array<ArrayBuffer> {
  const stride = strideOf(rows);
  const padded = new Float32Array(strideOf(width) * stride);
  // Eight columns at a time: the cache holds that many lines of the result.
  for (let first = 0; first < width; first += 8) {
    const end = Math.min(width, first + 8);
    for (let row = 0; row < rows; row++) {
      for (let column = first; column < end; column++) {
        padded[column * stride + row] = source[row * width + column] ?? 0;
      }
    }
  }
  return padded;
}
