import { describe, expect, it } from "vitest";

import { readF32, type Tensor } from "../files/tensor.ts";
import type { RowLinear, Weight } from "../models/graph.ts";
import type { ModelWeights } from "../models/model-weights.ts";
import { tensorOf } from "../../tests/references/tensors.ts";
import { gateBias, gateColumns, gateMatrix } from "./gate-weights.ts";

const INPUTS = 3;

function linear(name: string, outputs: number, hasBias = false): RowLinear {
  const matrix = { tensors: [{ name, shape: [outputs, INPUTS] }], inputs: INPUTS, outputs, layout: "out-in" } as const;
  return hasBias ? { matrix, bias: { tensors: [{ name: `${name} bias`, shape: [outputs] }] } } : { matrix };
}

function gateOf(outputs: number, { biases = [false, false] } = {}) {
  const [gate, up] = [linear("gate", outputs, biases[0]), linear("up", outputs, biases[1])];
  return { type: "gate", label: "mlp", gate, up, activation: "silu", input: 0, output: 1 } as const;
}

/** Element k of output n is n + k / 8, of up 100 more. */
function weightsOf({ gate, up }: ReturnType<typeof gateOf>): ModelWeights {
  const { outputs } = gate.matrix;
  const rows = (first: number) =>
    Float32Array.from({ length: outputs * INPUTS }, (_, i) => first + Math.floor(i / INPUTS) + (i % INPUTS) / 8);
  const vector = (first: number) => Float32Array.from({ length: outputs }, (_, i) => first + i);
  const tensors = new Map<Weight | undefined, Tensor>([
    [gate.matrix, tensorOf(rows(0), outputs, INPUTS)],
    [up.matrix, tensorOf(rows(100), outputs, INPUTS)],
    [gate.bias, tensorOf(vector(0), 1, outputs)],
    [up.bias, tensorOf(vector(100), 1, outputs)],
  ]);
  return { tensor: (weight: Weight) => tensors.get(weight) } as unknown as ModelWeights;
}

/** First elements of rows [begin, end). */
async function firstOfRows(tensor: Tensor, begin: number, end: number): Promise<number[]> {
  const band = { ...tensor, rows: end - begin, readRows: () => tensor.readRows(begin, end) };
  return [...(await readF32(band))].filter((_, i) => i % INPUTS === 0);
}

describe("the matrices of a gate as one", () => {
  it("take turns in twos, whichever rows are read", async () => {
    const operation = gateOf(6);
    const all = [0, 1, 100, 101, 2, 3, 102, 103, 4, 5, 104, 105];
    expect(gateColumns(operation)).toBe(all.length);
    const tensor = gateMatrix(weightsOf(operation), operation);
    expect([tensor.rows, tensor.columns]).toEqual([12, INPUTS]);
    for (let begin = 0; begin < 12; begin++) {
      for (let end = begin + 1; end <= 12; end++) {
        expect(await firstOfRows(tensor, begin, end)).toEqual(all.slice(begin, end));
      }
    }
    expect([...(await readF32(tensor))].slice(3, 9)).toEqual([1, 1.125, 1.25, 100, 100.125, 100.25]);
  });

  it("end with zeros where the outputs are odd", async () => {
    const operation = gateOf(3);
    const tensor = gateMatrix(weightsOf(operation), operation);
    expect(await firstOfRows(tensor, 0, tensor.rows)).toEqual([0, 1, 100, 101, 2, 0, 102, 0]);
  });

  it("become F32 where one is stored in another type", async () => {
    const operation = gateOf(3);
    const halves = { ...tensorOf(new Float32Array(3 * INPUTS), 3, INPUTS, "F16") };
    const ofHalves = { ...halves, readRows: async () => new Uint8Array(2 * 3 * INPUTS) };
    const plain = weightsOf(operation);
    const mixed = {
      ...plain,
      tensor: (weight: Weight) => (weight === operation.up.matrix ? ofHalves : plain.tensor(weight)),
    };
    const tensor = gateMatrix(mixed, operation);
    expect(tensor.dtype).toBe("F32");
    expect(await firstOfRows(tensor, 0, tensor.rows)).toEqual([0, 1, 0, 0, 2, 0, 0, 0]);
  });
});

it("joins the biases alike, zeros where one is missing", async () => {
  const both = gateOf(3, { biases: [true, true] });
  expect([...(await gateBias(weightsOf(both), both))]).toEqual([0, 1, 100, 101, 2, 0, 102, 0]);
  const one = gateOf(3, { biases: [false, true] });
  expect([...(await gateBias(weightsOf(one), one))]).toEqual([0, 0, 100, 101, 0, 0, 102, 0]);
});
