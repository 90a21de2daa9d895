import { describe, expect, it } from "vitest";

import type { TensorDtype } from "../../files/tensor.ts";
import { differingWords, openTestDevice, randomFloats, readBuffer } from "../../../tests/gpu/gpu.ts";
import { packMatrix } from "../../../tests/references/pack-matrix.ts";
import { layoutOf, type Kept } from "../../../tests/references/packed-tensor.ts";
import { roundedAs, tensorOf } from "../../../tests/references/tensors.ts";
import { Arena } from "./arena.ts";
import { KernelCompiler } from "./kernel.ts";
import { WeightUploader } from "./weight-uploader.ts";

const { device } = await openTestDevice();
const compiler = new KernelCompiler(device);

interface Upload {
  rows: number;
  columns: number;
  source?: TensorDtype;
  kept: Kept;
  transposed?: boolean;
  stagingBytes?: number;
  packsFloats?: boolean;
}

/** Returns the words on the GPU, and the reference's words for the same values. */
async function upload(
  values: Float32Array,
  { rows, columns, source = "F32", kept, transposed = false, ...options }: Upload,
): Promise<[ArrayBuffer, ArrayBuffer]> {
  const arena = new Arena(device);
  const uploader = new WeightUploader(device, arena, compiler, options);
  const { w, K4, N4 } = uploader.matrix("w", tensorOf(values, rows, columns, source), layoutOf(kept), { transposed });
  await uploader.fill();
  const words = await readBuffer(device, w);
  uploader.destroy();
  arena.destroy();
  const [k, n] = transposed ? [columns, rows] : [rows, columns];
  const expected = packMatrix(roundedAs(values, source), k, n, kept, { transposed });
  expect([4 * K4, 4 * N4]).toEqual([expected.kStride, expected.nStride]);
  return [words, expected.words.buffer];
}

const SIZES = [
  { rows: 1, columns: 1 },
  { rows: 37, columns: 5 },
  { rows: 64, columns: 131 },
  { rows: 131, columns: 33 },
];

describe.each(["f32", "f16", "bf16", "q8", "q4"] as const)("weights kept in %s", (kept) => {
  it.each(["F32", "F16", "BF16"] as const)("from a file of %s are the reference's, to the bit", async (source) => {
    for (const { rows, columns } of SIZES) {
      for (const transposed of [false, true]) {
        const values = randomFloats(rows * columns, rows);
        const [actual, expected] = await upload(values, { rows, columns, source, kept, transposed });
        expect(differingWords(actual, expected), JSON.stringify({ rows, columns, transposed })).toBe(0);
      }
    }
  });

  it("are the same when uploaded in bands", async () => {
    for (const transposed of [false, true]) {
      const shape = { rows: 131, columns: 35, source: "F16", kept, transposed, stagingBytes: 1 } as const;
      const [actual, expected] = await upload(randomFloats(131 * 35, 5), shape);
      expect(differingWords(actual, expected)).toBe(0);
    }
  });
});

describe("floats that JavaScript packs, for software adapters,", () => {
  it.each(["F32", "F16", "BF16"] as const)("from a file of %s are what the kernel packs", async (source) => {
    for (const { rows, columns } of [...SIZES, { rows: 64, columns: 96 }]) {
      for (const transposed of [false, true]) {
        // One band, bands of 32 rows, and for a transposed matrix the kernel again.
        for (const options of [{}, { stagingBytes: 1 }]) {
          const shape = { rows, columns, source, kept: "f32", transposed, packsFloats: true, ...options } as const;
          const [actual, expected] = await upload(randomFloats(rows * columns, rows), shape);
          expect(differingWords(actual, expected), JSON.stringify(shape)).toBe(0);
        }
      }
    }
  });

  it("need no kernel", async () => {
    const arena = new Arena(device);
    let numKernels = 0;
    const unused = new KernelCompiler(device, { onKernel: (_, total) => (numKernels = total) });
    const uploader = new WeightUploader(device, arena, unused, { packsFloats: true });
    uploader.matrix("w", tensorOf(randomFloats(35, 1), 7, 5), "f32", { transposed: true });
    await uploader.fill();
    uploader.destroy();
    arena.destroy();
    expect(numKernels).toBe(0);
  });
});

it("rounds to halves correctly: ties to even, subnormals, overflow", async () => {
  const odd = [0, -0, 1e-9, 2 ** -24, 2 ** -25, -3 * 2 ** -25, 6e-8, 1e-5, 6.1e-5, 2 ** -14, 1 / 3, 1 + 2 ** -11];
  const more = [1 + 3 * 2 ** -11, -2049, 2051, 65504, 65519, 65520, -1e6, Infinity, -Infinity, 0.1, -0.1, 3e38];
  const values = Float32Array.from([...odd, ...more]);
  const [actual, expected] = await upload(values, { rows: 1, columns: values.length, kept: "f16" });
  expect(differingWords(actual, expected)).toBe(0);
});

it("quantises exactly: ties, both signs of the extreme, groups of zeros, values beyond the last integer", async () => {
  for (const kept of ["q8", "q4"] as const) {
    const limit = kept === "q8" ? 128 : 8;
    // Column c has the scale 2^-c, of either sign, and every value is a tie or next to one.
    const columns = 8;
    const values = Float32Array.from({ length: 64 * columns }, (_, i) => {
      const [row, column] = [Math.floor(i / columns), i % columns];
      const scale = 2 ** -column * (column % 2 === 0 ? 1 : -1);
      if (column === 7 && row < 32) return 0;
      if (row % 32 === 0) return -limit * scale;
      if (row % 32 === 1) return (limit - 0.25) * scale;
      return ((row % limit) - limit / 2 + 0.5) * scale * (1 + ((row % 3) - 1) * 2 ** -20);
    });
    const [actual, expected] = await upload(values, { rows: 64, columns, kept });
    expect(differingWords(actual, expected)).toBe(0);
  }
});

it("frees the bands that it has read", async () => {
  const bands: Uint8Array[] = [];
  const tensor = tensorOf(randomFloats(131 * 36, 5), 131, 36);
  const arena = new Arena(device);
  const uploader = new WeightUploader(device, arena, compiler, { stagingBytes: 1 });
  const readRows = async (begin: number, end: number) => {
    const band = await tensor.readRows(begin, end);
    bands.push(band);
    return band;
  };
  uploader.matrix("w", { ...tensor, readRows }, "f16");
  await uploader.fill();
  uploader.destroy();
  arena.destroy();
  expect(bands.map(({ length }) => length)).toEqual([0, 0, 0, 0, 0]);
});
