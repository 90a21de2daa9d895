/**
 * Row strides are multiples of this: the chunk of K in the one order of additions, so that no inner loop has a remainder.
 * See shaders/README.md.
 */
const STRIDE_ALIGNMENT = 32;

export function padTo(multiple: number, size: number): number {
  return Math.ceil(size / multiple) * multiple;
}

/** The stride of a row of `width` values. */
export function strideOf(width: number): number {
  return padTo(STRIDE_ALIGNMENT, width);
}
