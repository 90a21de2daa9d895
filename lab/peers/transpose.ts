/** Returns the transpose of a row-major matrix [rows, columns]. */
export function transpose(values: Float32Array, rows: number, columns: number): Float32Array {
  const turned = new Float32Array(values.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      turned[column * rows + row] = values[row * columns + column] as number;
    }
  }
  return turned;
}
