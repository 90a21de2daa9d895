import { expect, it } from "vitest";

import { randomNormals, testKernels, type TestKernels } from "../../../../tests/cpu/cpu.ts";
import { quantiseRow } from "../../../../tests/references/integer-product.ts";
import { QUANTISED } from "./quantise-rows.ts";

const CHUNK = 32;

/** Quantises one chunk: its integers in both forms, its scale and its sums. */
function quantise({ kernels, put, take, memory }: TestKernels, values: Float32Array) {
  const at = take(4 * CHUNK);
  kernels.quantise_rows?.(put(values), 4 * CHUNK, 4 * CHUNK, 1, at);
  const { buffer } = memory;
  const [scale, ...sums] = new Float32Array(buffer, at + QUANTISED.scale, 4);
  const shorts = [...new Int16Array(buffer, at + QUANTISED.shorts, CHUNK)];
  // A word has k, k + 2, k + 1, k + 3.
  const inOrder = shorts.map((_, i) => shorts[(i & ~3) + ([0, 2, 1, 3][i & 3] ?? 0)]);
  return { integers: [...new Int8Array(buffer, at + QUANTISED.bytes, CHUNK)], inOrder, scale, sums };
}

it("rounds to the nearest integer of each scale, for all exponents and for ties", async () => {
  const test = await testKernels({ layout: "f32", activationDtype: "int8" });
  const normals = randomNormals(CHUNK, 1);
  for (let exponent = -149; exponent <= 126; exponent++) {
    const values = normals.map((value) => (value * 2 ** exponent) / 4);
    const [scale = 0] = quantiseRow(values).scales;
    // The largest stays what it is; some others lie between two integers.
    const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)));
    const ties = values.map((value, i) =>
      i % 2 === 0 ? scale * (i - 15.5) : Math.abs(value) === largest ? largest : value,
    );
    for (const row of [values, ties]) {
      const expected = quantiseRow(row);
      const integers = [...expected.integers];
      const sum = (from: number, to: number) => integers.slice(from, to).reduce((a, b) => a + b, 0);
      expect(quantise(test, row), `exponent ${exponent}`).toEqual({
        integers,
        inOrder: integers,
        scale: expected.scales[0],
        sums: [sum(0, 16), sum(16, 32), sum(0, 32)],
      });
    }
  }
});

it.each([Infinity, -Infinity, NaN])("makes the scale of a group with %d NaN", async (value) => {
  const test = await testKernels({ layout: "f32", activationDtype: "int8" });
  const row = randomNormals(CHUNK, 1);
  row[5] = value;
  expect(quantise(test, row).scale).toBeNaN();
  // With all bits of the significand, which an addition would carry over.
  new Uint32Array(row.buffer)[5] = 0x7fffffff;
  expect(quantise(test, row).scale).toBeNaN();
});

it("makes a scale 0 that is subnormal before it is rounded", async () => {
  const test = await testKernels({ layout: "f32", activationDtype: "int8" });
  const row = new Float32Array(CHUNK).fill(50 * 2 ** -126);
  row[0] = 127 * 2 ** -126 * (1 - 2 ** -14);
  expect(quantise(test, row)).toMatchObject({ integers: [...quantiseRow(row).integers], scale: 0 });
});
