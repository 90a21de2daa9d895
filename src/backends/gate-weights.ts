// Joins the two products of a gate: pairs of columns of both matrices alternate. So four neighbouring sums make two outputs,
// activation(gate) * up, wherever they are computed, and each column's sum is the same as in a product of its own.
//
//   column   0       1       2     3     4       5       6     7
//            gate 0  gate 1  up 0  up 1  gate 2  gate 3  up 2  up 3

import { rowsFrom } from "../files/rows-from.ts";
import { readF32, type Tensor } from "../files/tensor.ts";
import type { Gate } from "../models/graph.ts";
import type { ModelWeights } from "../models/model-weights.ts";

const [GATE, UP] = [0, 2];

/** Returns the number of columns of the joined product. An odd number of outputs leaves two of them zero. */
export function gateColumns({ gate }: Pick<Gate, "gate">): number {
  return 4 * Math.ceil(gate.matrix.outputs / 2);
}

/** Returns both matrices as one [columns, inputs], unread; packed if both are. */
export function gateMatrix(weights: ModelWeights, operation: Pick<Gate, "gate" | "up">): Tensor {
  const [gate, up] = [weights.tensor(operation.gate.matrix), weights.tensor(operation.up.matrix)];
  return rowsFrom([gate, up], gateColumns(operation), (column) => {
    const row = 2 * (column >> 2) + (column & 1);
    return row < gate.rows ? { tensor: (column & 2) === GATE ? gate : up, row } : null;
  });
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
