import { expect, it } from "vitest";

import { float32ToFloat16 } from "../../../files/half.ts";
import type { Tensor } from "../../../files/tensor.ts";
import { WEIGHTS_DTYPES } from "../../../protocol/config.ts";
import { randomNormals } from "../../../../tests/cpu/cpu.ts";
import { packBand } from "./pack-band.ts";
import { packRows, packTensor } from "./pack-tensor.ts";
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

it.each(WEIGHTS_DTYPES)(
  "packs a file's matrices side by side, a band at a time, as all at once (%s)",
  async (dtype) => {
    const [k, n] = [100, 75];
    const shape = panelShape(k, 2 * n, dtype);
    const banded = { ...shape, address: 64 };
    const [memory, expected] = [new ArrayBuffer(64 + shape.bytes), new ArrayBuffer(64 + shape.bytes)];
    // Of numbers that halves hold.
    const values = randomNormals(k * n, 1).map((value) => Math.round(value * 64) / 64);
    const reads: number[] = [];
    await packTensor(memory, banded, tensorOf(values, k, n, "F32", reads), { bandBytes: 32 * n * 4 });
    await packTensor(memory, banded, tensorOf(values, n, k, "F16", reads), {
      isTransposed: true,
      firstColumn: n,
      bandBytes: 1,
    });
    expect(reads).toEqual([32, 32, 32, 4, 32, 32, 11]);
    packBand(expected, banded, { values, columns: n, firstRow: 0 }, { isTransposed: false, firstColumn: 0 });
    packBand(expected, banded, { values, columns: k, firstRow: 0 }, { isTransposed: true, firstColumn: n });
    expect(new Uint8Array(memory)).toEqual(new Uint8Array(expected));
  },
);

it("takes vectors into padded rows", async () => {
  const memory = new ArrayBuffer(256);
  await packRows(memory, 64, tensorOf(Float32Array.of(1, 2, 3, 4, 5, 6), 2, 3, "F32", []), 4);
  expect([...new Float32Array(memory, 64, 8)]).toEqual([1, 2, 3, 0, 4, 5, 6, 0]);
});
