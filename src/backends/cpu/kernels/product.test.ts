import { describe, expect, it } from "vitest";

import type { FloatsDtype } from "../../../protocol/config.ts";
import {
  bitsOf,
  expectNear,
  layoutOf,
  paddedRows,
  randomNormals,
  testKernels,
  type TestKernels,
} from "../../../../tests/cpu/cpu.ts";
import {
  cappedAt,
  geluErfReference,
  geluTanhReference,
  matmulReference,
  relu2Reference,
} from "../../../../tests/references/reference.ts";
import { weightsAsKept } from "../../../../tests/references/weights-as-kept.ts";
import { strideOf } from "../pack/panel-matrix.ts";
import { Epilogue, type EpilogueName } from "../../epilogues.ts";
import { outputColumns } from "./epilogues.ts";
import { GROUP_COLUMNS } from "./panels.ts";
import { SCRATCH_BYTES } from "./product.ts";

const DTYPES: readonly FloatsDtype[] = ["f32", "f16", "q8", "q4"];

interface Case {
  readonly rows: number;
  readonly k: number;
  readonly n: number;
  readonly seed?: number;
}

function operands({ rows, k, n, seed = 1 }: Case) {
  return {
    x: randomNormals(rows * k, seed),
    w: randomNormals(k * n, seed + 1, 0.1),
    bias: randomNormals(n, seed + 2),
    before: randomNormals(rows * n, seed + 3),
  };
}

interface Run {
  readonly epilogue?: EpilogueName;
  readonly hasBias?: boolean;
  /** Rows a call; all at once by default. */
  readonly rowsACall?: number;
  /** Groups of columns a call. */
  readonly groupsACall?: number;
  /** Weights and bias, where they are not those of `operands`. */
  readonly w?: Float32Array;
  readonly bias?: Float32Array;
}

/** y of a product, without its padding. */
function multiply(test: TestKernels, shape: Case, { epilogue = "biasOnly", hasBias = true, ...run }: Run = {}) {
  const { rows, k, n } = shape;
  const { x, w, bias, before } = { ...operands(shape), ...run };
  const matrix = test.matrix(w, k, n);
  const xAt = test.put(paddedRows(x, rows, k));
  const yAt = test.put(paddedRows(before, rows, n));
  const biasAt = test.put(paddedRows(bias, 1, n));
  const totals = test.take(SCRATCH_BYTES);
  const [kBytes, nBytes] = [4 * matrix.kStride, 4 * matrix.nStride];
  const groups = matrix.nStride / GROUP_COLUMNS;
  const { rowsACall = rows, groupsACall = groups } = run;
  for (let group = 0; group < groups; group += groupsACall) {
    for (let row = 0; row < rows; row += rowsACall) {
      test.product(
        xAt + row * kBytes,
        kBytes,
        matrix.address + group * matrix.groupBytes,
        hasBias ? biasAt + 4 * GROUP_COLUMNS * group : 0,
        yAt + row * nBytes + 4 * outputColumns(epilogue) * group,
        nBytes,
        kBytes,
        Math.min(groupsACall, groups - group),
        Math.min(rowsACall, rows - row),
        totals,
        Epilogue[epilogue],
      );
    }
  }
  const padded = test.floats(yAt, rows * matrix.nStride);
  return Float32Array.from({ length: rows * n }, (_, i) => padded[Math.floor(i / n) * matrix.nStride + (i % n)] ?? NaN);
}

describe.each(DTYPES)("%s", (dtype) => {
  it.each<Case>([
    { rows: 1, k: 1, n: 1 },
    { rows: 2, k: 31, n: 33 },
    { rows: 3, k: 65, n: 7 },
    { rows: 7, k: 96, n: 100 },
    { rows: 53, k: 130, n: 40 },
  ])("is the sum of products in float64: $rows x $k x $n", async (shape) => {
    const { x, w, bias } = operands(shape);
    const kept = weightsAsKept(w, shape.k, shape.n, dtype, { groupsAlong: "columns" });
    for (const math of ["portable", "fastest"] as const) {
      const y = multiply(await testKernels({ layout: layoutOf(dtype), math }), shape);
      expectNear(y, matmulReference(x, kept, bias, shape.rows, shape.k, shape.n), 2e-6);
    }
  });

  it.each(["portable", "fastest"] as const)(
    "gives a row the same bits alone and among any number of rows, in %s arithmetic",
    async (math) => {
      const test = await testKernels({ layout: layoutOf(dtype), math });
      const shape = { rows: 67, k: 100, n: 70 };
      const alone = bitsOf(multiply(test, shape, { rowsACall: 1 }));
      for (const rowsACall of [2, 3, 4, 5, 6, 7, 9, 11, 23, 48, 49, 67]) {
        expect(bitsOf(multiply(test, shape, { rowsACall })), `${rowsACall} rows a call`).toEqual(alone);
      }
      expect(bitsOf(multiply(test, shape, { groupsACall: 1 }))).toEqual(alone);
    },
  );

  it("takes weights that are all zero, and halves too small to be normal", async () => {
    const test = await testKernels({ layout: layoutOf(dtype) });
    const w = Float32Array.from({ length: 32 * 32 }, (_, i) => (i % 3 === 0 ? 2 ** -24 : 0));
    const matrix = test.matrix(w, 32, 32);
    const x = test.put(new Float32Array(32).fill(2 ** 20));
    const y = test.take(4 * 32);
    const { address } = matrix;
    test.product(x, 128, address, 0, y, 128, 128, 1, 1, test.take(SCRATCH_BYTES), Epilogue.biasOnly);
    const ones = new Float32Array(32).fill(2 ** 20);
    const kept = weightsAsKept(w, 32, 32, dtype, { groupsAlong: "columns" });
    expectNear(test.floats(y, 32), matmulReference(ones, kept, new Float32Array(32), 1, 32, 32), 1e-7);
  });
});

const LOGIT_CAP = 1.5;
const EPILOGUES: Readonly<Partial<Record<EpilogueName, (z: number, y: number) => number>>> = {
  biasOnly: (z) => z,
  geluTanh: (z) => geluTanhReference(z),
  geluErf: (z) => geluErfReference(z),
  silu: (z) => z / (1 + Math.exp(-z)),
  relu2: relu2Reference,
  head: cappedAt(LOGIT_CAP),
  addToOutput: (z, y) => y + z,
};

it.each(Object.entries(EPILOGUES))("ends with %s", async (name, finish) => {
  const epilogue = name as EpilogueName;
  const shape = { rows: 5, k: 40, n: 45 };
  const { x, w, bias, before } = operands(shape);
  for (const hasBias of [true, false]) {
    const z = matmulReference(x, w, hasBias ? bias : new Float32Array(45), shape.rows, shape.k, shape.n);
    const y = multiply(await testKernels({ logitCap: LOGIT_CAP }), shape, { epilogue, hasBias });
    expectNear(
      y,
      z.map((value, i) => finish(value, before[i] ?? NaN)),
      2e-6,
    );
  }
});

const GATES = [
  ["gegluTanh", "geluTanh"],
  ["gegluErf", "geluErf"],
  ["swiglu", "silu"],
  ["reglu2", "relu2"],
] as const;

it.each(GATES)("ends a gate with %s: the bits of %s(gate) times those of up", async (epilogue, activation) => {
  const [rows, k, n] = [7, 70, 45];
  const columns = 4 * Math.ceil(n / 2);
  const [first, second] = [operands({ rows, k, n }), operands({ rows, k, n, seed: 11 })];
  /** Rows [n] of both, side by side in twos. */
  const joined = (gate: Float32Array, up: Float32Array) => {
    const values = new Float32Array((gate.length / n) * columns);
    gate.forEach((value, i) => {
      const column = i % n;
      const at = Math.floor(i / n) * columns + 4 * Math.floor(column / 2) + (column % 2);
      values[at] = value;
      values[at + 2] = up[i] ?? NaN;
    });
    return values;
  };
  for (const dtype of DTYPES) {
    const test = await testKernels({ layout: layoutOf(dtype) });
    for (const hasBias of [true, false]) {
      const gates = multiply(test, { rows, k, n }, { epilogue: activation, hasBias });
      const ups = multiply(test, { rows, k, n }, { hasBias, w: second.w, bias: second.bias });
      const expected = bitsOf(gates.map((value, i) => value * (ups[i] ?? NaN)));
      const run = { hasBias, w: joined(first.w, second.w), bias: joined(first.bias, second.bias), epilogue };
      for (const calls of [{}, { groupsACall: 1 }, { rowsACall: 2 }]) {
        const y = multiply(test, { rows, k, n: columns }, { ...run, ...calls });
        expect(bitsOf(y.filter((_, i) => i % columns < n))).toEqual(expected);
      }
    }
  }
});

it("leaves zeros in the padding of y, where there were zeros", async () => {
  const test = await testKernels();
  const matrix = test.matrix(randomNormals(40 * 33, 1), 40, 33);
  const x = test.put(paddedRows(randomNormals(3 * 40, 2), 3, 40));
  const y = test.take(4 * 3 * strideOf(33));
  const { address } = matrix;
  test.product(x, 256, address, 0, y, 256, 256, 2, 3, test.take(SCRATCH_BYTES), Epilogue.silu);
  for (let row = 0; row < 3; row++) expect([...test.floats(y + 256 * row + 4 * 33, 31)]).toEqual(Array(31).fill(0));
});
