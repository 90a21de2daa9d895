import { expect, it } from "vitest";

import { float32ToFloat16 } from "../../../files/half.ts";
import type { Tensor } from "../../../files/tensor.ts";
import { layoutOf, randomNormals } from "../../../../tests/cpu/cpu.ts";
import { packBand } from "./pack-band.ts";
import { packTensor } from "./pack-tensor.ts";
import { panelShape } from "./panel-matrix.ts";

function tensorOf(
  values: Float32Array,
  rows: number,
  columns: number,
  dtype: Tensor["dtype"],
  reads: number[],
): Tensor {
  const elements = dtype === "F32" ? Float32Array.from(values) : float32ToFloat16(values);
  const rowBytes = columns * elements.BYTES_PER_ELEMENT;
  return {
    dtype,
    rows,
    columns,
    readRows: (begin, end) => {
      reads.push(end - begin);
      return Promise.resolve(new Uint8Array(elements.buffer.slice(begin * rowBytes, end * rowBytes)));
    },
  };
}

it.each(["f32", "f16", "q8", "q4"] as const)(
  "packs a file's matrix a band at a time as all at once (%s)",
  async (dtype) => {
    const [k, n] = [100, 75];
    const shape = { ...panelShape(k, n, layoutOf(dtype)), address: 64 };
    // Of numbers that halves hold.
    const values = randomNormals(k * n, 1).map((value) => Math.round(value * 64) / 64);
    for (const isTransposed of [false, true]) {
      const [memory, expected] = [new ArrayBuffer(64 + shape.bytes), new ArrayBuffer(64 + shape.bytes)];
      const [rows, columns] = isTransposed ? [n, k] : [k, n];
      const reads: number[] = [];
      await packTensor(memory, shape, tensorOf(values, rows, columns, "F16", reads), isTransposed, 1);
      expect(reads).toEqual(isTransposed ? [32, 32, 11] : [32, 32, 32, 4]);
      packBand(expected, shape, { values, columns, firstRow: 0 }, isTransposed);
      expect(new Uint8Array(memory)).toEqual(new Uint8Array(expected));
    }
  },
);
