import { afterEach, describe, expect, it, vi } from "vitest";

import type { Packing } from "../../../files/packing.ts";
import type { Tensor } from "../../../files/tensor.ts";
import { bitsOf, randomNormals, testKernels, type TestKernels } from "../../../../tests/cpu/cpu.ts";
import { emulateDots } from "../../../../tests/cpu/emulated-dots.ts";
import { integerProduct, quantiseRow } from "../../../../tests/references/integer-product.ts";
import { PACKINGS, randomPacked } from "../../../../tests/references/packed-tensor.ts";
import { detectIntegerDots } from "../integer-dots.ts";
import type { PanelMatrix } from "../pack/panel-matrix.ts";
import { Epilogue } from "../../epilogues.ts";
import { GROUP_COLUMNS } from "./panels.ts";
import { integerBytes, SCRATCH_BYTES } from "./product.ts";

const OUTPUTS = 75;

afterEach(() => vi.restoreAllMocks());

function multiply(test: TestKernels, { address, kStride, nStride }: PanelMatrix, x: Float32Array): number[] {
  const rows = x.length / kStride;
  const [xAt, yAt, totals] = [
    test.put(x),
    test.take(4 * rows * nStride),
    test.take(SCRATCH_BYTES + integerBytes(kStride)),
  ];
  const [kBytes, nBytes] = [4 * kStride, 4 * nStride];
  const groups = nStride / GROUP_COLUMNS;
  test.product(xAt, kBytes, address, 0, yAt, nBytes, kBytes, groups, rows, totals, Epilogue.biasOnly);
  return bitsOf(test.floats(yAt, rows * nStride));
}

function embedAll(test: TestKernels, { address, kStride }: PanelMatrix, columns: number): number[] {
  const [y, scratch] = [test.take(4 * kStride), test.take(SCRATCH_BYTES)];
  return Array.from({ length: OUTPUTS }, (_, token) => {
    test.embed(address, token, y, 4 * kStride, 1.1, scratch);
    return bitsOf(test.floats(y, columns));
  }).flat();
}

/** Returns rows of very different sizes: zeros, subnormal ones and large ones among them. */
function rowsOf(count: number, columns: number, stride: number): Float32Array<ArrayBuffer> {
  const sizes = [1, 0, 2 ** -140, 2 ** 60, 1e-3];
  return randomNormals(count * stride, count).map((value, i) =>
    i % stride < columns ? value * (sizes[Math.floor(i / 32) % sizes.length] ?? 1) : 0,
  );
}

describe.each<[string, Packing]>(Object.entries(PACKINGS))("%s", (_, packing) => {
  const columns = packing.block === 256 ? 768 : 3 * packing.block;
  const stride = Math.ceil(columns / 32) * 32;
  const packed = randomPacked(packing, OUTPUTS, columns, 5);
  const whole: Tensor = { ...packed, packed: null };

  it.each(["portable", "fastest"] as const)(
    "gives products and embeddings the bits of the same values as f32, in %s arithmetic",
    async (math) => {
      const [test, plain] = [await testKernels({ layout: packing, math }), await testKernels({ math })];
      const [w, values] = [await test.matrixOf(packed), await plain.matrixOf(whole)];
      for (const rows of [1, 4, 7, 64]) {
        const x = randomNormals(rows * stride, rows).map((value, i) => (i % stride < columns ? value : 0));
        expect(multiply(test, w, x), `${rows} rows`).toEqual(multiply(plain, values, x));
      }
      expect(embedAll(test, w, columns)).toEqual(embedAll(plain, values, columns));
    },
  );

  it.each([
    ["portable", "plain"],
    ["fastest", "relaxed"],
    ["portable", "unsigned"],
    ["fastest", "signed"],
    ["fastest", null],
  ] as const)(
    "multiplies integers as they are defined to be, in %s arithmetic, with %s dots (null: this machine's)",
    async (math, kind) => {
      if (kind === "unsigned" || kind === "signed") emulateDots(kind);
      const integerDots = kind ?? (await detectIntegerDots());
      const test = await testKernels({ layout: packing, activationDtype: "int8", math, integerDots });
      const matrix = await test.matrixOf(packed);
      const rows = await packed.packed?.readRows(0, OUTPUTS);
      for (const count of [1, 2, 3, 4, 7, 66]) {
        const x = rowsOf(count, columns, stride);
        const y = multiply(test, matrix, x);
        const quantised = Array.from({ length: count }, (_unused, r) =>
          quantiseRow(x.subarray(r * stride, (r + 1) * stride)),
        );
        const expected = rows && integerProduct(quantised, packing, rows, OUTPUTS);
        expect(y.filter((_unused, i) => i % matrix.nStride < OUTPUTS)).toEqual(expected && bitsOf(expected));
      }
    },
  );
});
