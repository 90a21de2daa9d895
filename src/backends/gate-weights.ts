// Joins the two products of a gate: pairs of columns of both matrices alternate. So four neighbouring sums make two outputs,
// activation(gate) * up, wherever they are computed, and each column's sum is the same as in a product of its own.
//
//   column   0       1       2     3     4       5       6     7
//            gate 0  gate 1  up 0  up 1  gate 2  gate 3  up 2  up 3

import { releaseBytes } from "../files/release-bytes.ts";
import { BYTES_PER_ELEMENT, inOneType, readF32, type Tensor } from "../files/tensor.ts";
import type { Gate } from "../models/graph.ts";
import type { ModelWeights } from "../models/model-weights.ts";

const [GATE, UP] = [0, 2];

/** Returns the number of columns of the joined product. An odd number of outputs leaves two of them zero. */
export function gateColumns({ gate }: Pick<Gate, "gate">): number {
  return 4 * Math.ceil(gate.matrix.outputs / 2);
}

/** Returns both matrices as one [columns, inputs], unread. */
export function gateMatrix(weights: ModelWeights, operation: Pick<Gate, "gate" | "up">): Tensor {
  const stored = [weights.tensor(operation.gate.matrix), weights.tensor(operation.up.matrix)];
  const [gate, up] = inOneType(stored) as readonly [Tensor, Tensor];
  const { dtype } = gate;
  const rowBytes = gate.columns * BYTES_PER_ELEMENT[dtype];
  return {
    dtype,
    rows: gateColumns(operation),
    columns: gate.columns,
    async readRows(begin, end) {
      const joined = new Uint8Array((end - begin) * rowBytes);
      const [first, last] = [2 * Math.floor(begin / 4), Math.min(gate.rows, 2 * Math.ceil(end / 4))];
      for (const [tensor, place] of [[gate, GATE] as const, [up, UP] as const]) {
        const bytes = await tensor.readRows(first, last);
        for (let output = first; output < last; output++) {
          const row = columnOf(output, place);
          if (row < begin || row >= end) continue;
          const from = (output - first) * rowBytes;
          joined.set(bytes.subarray(from, from + rowBytes), (row - begin) * rowBytes);
        }
        releaseBytes(bytes);
      }
      return joined;
    },
  };
}

/** Returns both biases as one [columns]: zeros where there is none. */
export async function gateBias(weights: ModelWeights, operation: Gate): Promise<Float32Array<ArrayBuffer>> {
  const joined = new Float32Array(gateColumns(operation));
  for (const [{ bias }, place] of [[operation.gate, GATE] as const, [operation.up, UP] as const]) {
    const values = bias ? await readF32(weights.tensor(bias)) : [];
    for (const [output, value] of values.entries()) joined[columnOf(output, place)] = value;
  }
  return joined;
}

function columnOf(output: number, place: number): number {
  return 4 * (output >> 1) + (output & 1) + place;
}
