import { describe, expect, it } from "vitest";

import { differingWords, expectClose, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import type { PackedRows, Packing } from "../../../files/packing.ts";
import type { Tensor } from "../../../files/tensor.ts";
import { integerProduct, quantiseRow } from "../../../../tests/references/integer-product.ts";
import { PACKINGS, randomPacked } from "../../../../tests/references/packed-tensor.ts";
import { uploadedWords } from "../../../../tests/gpu/uploaded-words.ts";
import { layoutConstants } from "../matrix-layout.ts";
import { padRows, strideOf } from "../padding.ts";
import { matmulInteger, matmulIntegerPacked, quantiseRows } from "./kernels.ts";
import { Epilogue } from "../../epilogues.ts";

const { device, hasPackedDots } = await openTestDevice();
const CHUNK = 32;

/** Returns rows [.., k] in integers, as the kernel writes them. */
async function quantise(x: Float32Array<ArrayBuffer>, k: number): Promise<Uint32Array<ArrayBuffer>> {
  const rows = x.length / k;
  const y = new Uint32Array((x.length / CHUNK) * 12);
  const written = await runKernel(device, quantiseRows, { K4: k / 4, LANES: 8 }, { x, y }, [Math.ceil(k / 256), rows]);
  return new Uint32Array(written.y ?? new ArrayBuffer(0));
}

/** Returns the integers, scales and sums of each chunk. */
function chunksOf(words: Uint32Array<ArrayBuffer>) {
  return Array.from({ length: words.length / 12 }, (_, i) => ({
    integers: [...new Int8Array(words.buffer, 48 * i, CHUNK)],
    scale: new Float32Array(words.buffer, 48 * i + 32, 1)[0],
    sums: [...new Int32Array(words.buffer, 48 * i + 36, 3)],
  }));
}

describe("rows in integers", () => {
  it("are the reference's, for all exponents, for ties and for odd sizes", async () => {
    const normals = randomFloats(CHUNK, 1, 2);
    const chunks = Array.from({ length: 276 }, (_, i) => normals.map((value) => (value * 2 ** (i - 149)) / 4));
    // Some values lie between two integers; the largest stays what it is.
    const ties = chunks.map((values) => {
      const [scale = 0] = quantiseRow(values).scales;
      const largest = values.reduce((most, value) => Math.max(most, Math.abs(value)));
      return values.map((value, i) =>
        i % 2 === 0 ? scale * (i - 15.5) : Math.abs(value) === largest ? largest : value,
      );
    });
    const all = [...chunks, ...ties, new Float32Array(CHUNK)];
    const given = chunksOf(await quantise(Float32Array.from(all.flatMap((chunk) => [...chunk])), 7 * CHUNK));
    expect(given).toHaveLength(553);
    for (const [i, chunk] of all.entries()) {
      const { integers, scales } = quantiseRow(chunk);
      const sum = (from: number, to: number) => integers.slice(from, to).reduce((a, b) => a + b, 0);
      const expected = { integers: [...integers], scale: scales[0], sums: [sum(0, 16), sum(16, 32), sum(0, 32)] };
      expect(given[i], `chunk ${i}`).toEqual(expected);
    }
  });

  it.each([Infinity, -Infinity, NaN])("have a scale of NaN in a group with %d", async (value) => {
    const row = randomFloats(3 * CHUNK, 1);
    row[CHUNK + 5] = value;
    const scales = chunksOf(await quantise(row, 3 * CHUNK)).map(({ scale }) => Number.isNaN(scale));
    expect(scales).toEqual([false, true, false]);
  });
});

/** The tiles of workgroups; the last with the compiler's own dots. */
const KERNELS = [
  { kernel: matmulInteger, COLUMNS: 8, SPLITS: 1, ROWS: 4 },
  { kernel: matmulInteger, COLUMNS: 8, SPLITS: 4, ROWS: 1 },
  { kernel: matmulInteger, COLUMNS: 4, SPLITS: 3, ROWS: 8 },
  ...(hasPackedDots ? [{ kernel: matmulIntegerPacked, COLUMNS: 8, SPLITS: 2, ROWS: 3 }] : []),
];
const [ROWS, OUTPUTS] = [5, 45];

/** Returns [rows, outputs] from each kernel, whose bits are the same. */
async function multiply(x: Float32Array<ArrayBuffer>, w: Tensor, packing: Packing, kernels: typeof KERNELS) {
  const [N4, K4] = [strideOf(OUTPUTS) / 4, strideOf(w.columns) / 4];
  const shape = { K4, N4, Y4: N4, SAMPLES_ONLY: false, EPILOGUE: Epilogue.biasOnly, ...layoutConstants(packing) };
  const data = {
    // As in an engine, kernels read rows beyond the step's.
    x: await quantise(padRows(x, 2 * ROWS, 4 * K4), 4 * K4),
    w: await uploadedWords(device, w, packing),
    bias: new Float32Array(4 * N4),
    y: new Float32Array(8 * ROWS * N4),
    step: new Uint32Array([ROWS, 0, 0, 0]),
  };
  const results = await Promise.all(
    kernels.map(async ({ kernel, ...tile }) => {
      const groups = [Math.ceil(N4 / tile.COLUMNS), Math.ceil(ROWS / tile.ROWS)] as const;
      return (await runKernel(device, kernel, { ...shape, ...tile }, data, groups)).y;
    }),
  );
  for (const result of results) expect(differingWords(result, results[0])).toBe(0);
  const y = new Float32Array(results[0] ?? new ArrayBuffer(0));
  const rows = await w.packed?.readRows(0, OUTPUTS);
  const quantised = Array.from({ length: ROWS }, (_, r) => quantiseRow(x.subarray(4 * K4 * r, 4 * K4 * (r + 1))));
  return {
    y: Float32Array.from(
      { length: ROWS * OUTPUTS },
      (_, i) => y[Math.floor(i / OUTPUTS) * 4 * N4 + (i % OUTPUTS)] ?? NaN,
    ),
    expected: rows ? integerProduct(quantised, packing, rows, OUTPUTS) : new Float32Array(),
  };
}

/** Returns a matrix with scales and minimums of few bits: with whole numbers, a product's f32 sums are exact. */
function withPlainScales(tensor: Tensor): Tensor {
  const { packed } = tensor;
  if (!packed) return tensor;
  const ones = <A extends PackedRows["d"]>(values: A) => values.fill(values instanceof Uint16Array ? 0x3c00 : 1) as A;
  const readRows = async (from: number, to: number): Promise<PackedRows> => {
    const rows = await packed.readRows(from, to);
    const { d, m, scales, minimums } = rows;
    const few = {
      scales: scales && scales.map((one) => one % 3),
      minimums: minimums && minimums.map((one) => one % 3),
    };
    return { ...rows, ...few, d: ones(d), m: m && ones(m) };
  };
  return { ...tensor, packed: { ...packed, readRows } };
}

describe("a product of integers", () => {
  it.each(Object.entries(PACKINGS))("%s", async (name, packing) => {
    const k = packing.block === 256 ? 512 : 3 * packing.block; // an odd number of blocks
    const kernels = /Q4_1|Q6_K|q8/.test(name) ? KERNELS : KERNELS.slice(0, 1);
    const packed = randomPacked(packing, OUTPUTS, k, 7);
    // With 127 in each group, its scale is one.
    const whole = randomFloats(ROWS * k, 2, 126).map((value, i) => (i % CHUNK === 3 ? 127 : Math.round(value)));
    const exact = await multiply(padRows(whole, ROWS, k), withPlainScales(packed), packing, kernels);
    expect(exact.y).toEqual(exact.expected);
    const { y, expected } = await multiply(padRows(randomFloats(ROWS * k, 2), ROWS, k), packed, packing, kernels);
    expectClose(y, expected, 1e-6 * Math.max(...expected.map(Math.abs)));
  });

  it("is computed by the compiler's own dots, too", () => expect(hasPackedDots).toBe(true));
});
