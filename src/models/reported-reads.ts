import { BYTES_PER_ELEMENT, rowsOf, type Tensor } from "../files/tensor.ts";
import { weightsOf } from "./graph.ts";
import type { ModelWeights } from "./model-weights.ts";

/** Returns the bytes of all weights, as they are read. */
export function bytesToRead(weights: ModelWeights): number {
  return weightsOf(weights.model.graph)
    .map((weight) => weights.tensor(weight))
    .reduce((sum, { dtype, rows, columns }) => sum + rows * columns * BYTES_PER_ELEMENT[dtype], 0);
}

/** @param onRead gets the number of bytes after each read; an error that it throws ends the reading */
export function withReportedReads(weights: ModelWeights, onRead: (bytes: number) => void): ModelWeights {
  const reported = (tensor: Tensor): Tensor => {
    const { packed } = tensor;
    return {
      ...tensor,
      async readRows(begin, end) {
        const bytes = await tensor.readRows(begin, end);
        onRead(bytes.length);
        return bytes;
      },
      packed: packed
        ? {
            ...packed,
            async readRows(begin, end) {
              const rows = await packed.readRows(begin, end);
              onRead(rows.integers.length * BYTES_PER_ELEMENT[tensor.dtype]); // as if they were unpacked
              return rows;
            },
          }
        : null,
      rowsOf: (first, count) => reported(rowsOf(tensor, first, count)),
    };
  };
  return { ...weights, tensor: (weight) => reported(weights.tensor(weight)) };
}
