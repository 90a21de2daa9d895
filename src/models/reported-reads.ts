import { BYTES_PER_ELEMENT } from "../files/tensor.ts";
import { weightsOf } from "./graph.ts";
import type { ModelWeights } from "./model-weights.ts";

/** Returns the bytes of all weights, as they are read. */
export function bytesToRead(weights: ModelWeights): number {
  return weightsOf(weights.model.graph)
    .map((weight) => weights.tensor(weight))
    .reduce((sum, { dtype, rows, columns }) => sum + rows * columns * BYTES_PER_ELEMENT[dtype], 0);
}

/**
 * Returns the same weights, with `onRead` called after each read.
 * @param onRead gets the number of bytes read; an error that it throws ends the reading
 */
export function withReportedReads(weights: ModelWeights, onRead: (bytes: number) => void): ModelWeights {
  return {
    ...weights,
    tensor(weight) {
      const tensor = weights.tensor(weight);
      return {
        ...tensor,
        async readRows(begin, end) {
          const bytes = await tensor.readRows(begin, end);
          onRead(bytes.length);
          return bytes;
        },
      };
    },
  };
}
