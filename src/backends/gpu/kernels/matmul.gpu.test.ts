import { describe, expect, it } from "vitest";

import { readF32 } from "../../../files/tensor.ts";
import type { WeightLayout } from "../../../models/weight-layouts.ts";
import {
  differingWords,
  expectClose,
  floatsOf,
  openTestDevice,
  randomFloats,
  runKernel,
} from "../../../../tests/gpu/gpu.ts";
import {
  geluErfReference,
  geluTanhReference,
  matmulReference,
  relu2Reference,
  siluReference,
} from "../../../../tests/references/reference.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { layoutOf, PACKINGS, randomPacked, type Kept } from "../../../../tests/references/packed-tensor.ts";
import { uploadedWords } from "../../../../tests/gpu/uploaded-words.ts";
import { tensorOf } from "../../../../tests/references/tensors.ts";
import { weightsAsKept } from "../../../../tests/references/weights-as-kept.ts";
import { packProduct, defaultMatmuls } from "../matmul-variants.ts";
import { layoutConstants, matrixBytes } from "../matrix-layout.ts";
import { packMatrix } from "../../../../tests/references/pack-matrix.ts";
import { padRows, padTo, strideOf } from "../padding.ts";
import { layerNorm, matmulAny, matmulLane, matmulRow, matmulSkinny, matmulSubgroup, matmulTiled } from "./kernels.ts";
import { Epilogue } from "../../epilogues.ts";

const { device, hasSubgroups } = await openTestDevice();

interface Product {
  rows: number;
  k: number;
  n: number;
  dtype: Kept;
  epilogue: number;
  transposed: boolean;
}

function inputsOf({ rows, k, n, dtype, transposed }: Product) {
  const w = randomFloats(k * n, 1, 0.5);
  const source = transposed ? Float32Array.from(w, (_, i) => w[(i % k) * n + Math.floor(i / k)] ?? 0) : w;
  return {
    x: randomFloats(rows * k, 2),
    w: weightsAsKept(w, k, n, dtype, { groupsAlong: "columns" }),
    packed: packMatrix(source, k, n, dtype, { transposed }),
    bias: randomFloats(n, 3),
    before: randomFloats(rows * n, 4),
  };
}

const NO_HEAD = { VOCABULARY: 0, FIRST_TOKEN: 0 };

type KernelName = "any" | "row" | "lane" | "subgroup" | "skinny" | "tiled";

/** Returns [rows, n] from one kernel with tiles of `tileRows` rows, [rows, n / 2] after a gate. */
async function multiply(product: Product, name: KernelName, tileRows: number): Promise<ArrayBuffer> {
  const { x, packed, bias, before } = inputsOf(product);
  const inputs = { x, w: packed.words, bias, before, layout: layoutOf(product.dtype) };
  return multiplyBy(inputs, product, name, tileRows);
}

interface Inputs extends Record<"x" | "bias" | "before", Float32Array> {
  readonly w: Uint32Array<ArrayBuffer>;
  readonly layout: WeightLayout;
}

async function multiplyBy(
  { layout, ...inputs }: Inputs,
  { rows, k, n, epilogue }: Pick<Product, "rows" | "k" | "n" | "epilogue">,
  name: KernelName,
  tileRows: number,
): Promise<ArrayBuffer> {
  const outputs = epilogue >= Epilogue.gegluTanh ? n / 2 : n;
  const shape = {
    K4: strideOf(k) / 4,
    N4: strideOf(n) / 4,
    Y4: strideOf(outputs) / 4,
    SAMPLES_ONLY: false,
    EPILOGUE: epilogue,
    ...layoutConstants(layout),
  };
  const height = padTo(32, rows);
  const tall = (values: Float32Array, width: number) => padRows(values, height, width);
  const data = {
    x: tall(inputs.x, k),
    w: inputs.w,
    bias: padRows(inputs.bias, 1, n),
    y: tall(inputs.before, outputs),
    step: new Uint32Array([rows, 0, 0, 0]),
    norm: new Float32Array(4),
    samples: packSamples([{}]),
    logit_parts: new Float32Array(4),
  };
  const unnormed = { NORM: false, RMS: false, WIDTH: 0, EPSILON: 0, ...NO_HEAD };
  const tiles = Math.ceil(rows / tileRows);
  const columns = (lanes: number) => Math.ceil(shape.N4 / lanes);
  const run = () => {
    switch (name) {
      case "any": {
        const ofProduct = { ...data, product: packProduct(shape) };
        return runKernel(device, matmulAny, { ...layoutConstants(layout), LANES: 32 }, ofProduct, [columns(32), tiles]);
      }
      case "row":
        return runKernel(device, matmulRow, { ...shape, LANES: 32 }, data, [columns(32), rows]);
      case "lane":
        return runKernel(device, matmulLane, { ...shape, LANES: 32 }, data, [columns(32), tiles]);
      case "subgroup":
        return runKernel(device, matmulSubgroup, { ...shape, LANES: 32 }, data, [columns(32), tiles]);
      case "skinny": {
        const constants = { ...shape, ...unnormed, COLUMNS: 8, SPLITS: 8, ROWS: tileRows };
        return runKernel(device, matmulSkinny, constants, data, [columns(8), tiles]);
      }
      case "tiled": {
        const tile = tileOf(tileRows);
        return runKernel(device, matmulTiled, { ...shape, ...unnormed, ...tile }, data, [
          columns(tile.COLUMN_LANES * tile.VECS),
          tiles,
        ]);
      }
    }
  };
  const written = await run();
  return unpad(floatsOf(written, "y"), rows, outputs);
}

function unpad(padded: Float32Array, rows: number, width: number): ArrayBuffer {
  const values = new Float32Array(rows * width);
  for (let r = 0; r < rows; r++)
    values.set(padded.subarray(r * strideOf(width), r * strideOf(width) + width), r * width);
  return values.buffer;
}

const KERNELS: readonly (readonly [KernelName, number])[] = [
  ["any", 4],
  ["row", 1],
  ["lane", 4],
  // This kernel is used only on devices with subgroups.
  ...(hasSubgroups ? ([["subgroup", 8]] as const) : []),
  ["skinny", 3],
  ["skinny", 16],
  ["tiled", 4],
  ["tiled", 32],
];

/** Returns an odd tile size, or the usual one. */
function tileOf(rows: number) {
  return rows === 4
    ? { COLUMN_LANES: 4, ROW_LANES: 2, ROWS: 2, VECS: 3 }
    : { COLUMN_LANES: 8, ROW_LANES: 8, ROWS: 4, VECS: 1 };
}

const ODD = { rows: 33, k: 70, n: 130 };
/** Each dtype with one shape: compiling takes most of the time. */
const PRODUCTS = [
  // More chunks than a workgroup takes at once.
  { dtype: "f32", rows: 17, k: 301, n: 31 },
  { dtype: "f16", ...ODD },
  // Two chunks, which llvmpipe unrolls.
  { dtype: "q8", rows: 13, k: 64, n: 64 },
  { dtype: "q4", ...ODD },
] as const;

describe("a product", () => {
  it.each(PRODUCTS)(
    "of [$rows, $k] by [$k, $n] in $dtype matches float64, with the same bits in every kernel",
    async (shape) => {
      const product = { ...shape, epilogue: Epilogue.biasOnly, transposed: false };
      const { x, w, bias } = inputsOf(product);
      const expected = matmulReference(x, w, bias, shape.rows, shape.k, shape.n);
      const results = await Promise.all(KERNELS.map(([name, tileRows]) => multiply(product, name, tileRows)));
      for (const result of results) {
        expectClose(new Float32Array(result), expected, 2e-6 * Math.sqrt(shape.k) + 1e-6);
        expect(differingWords(result, results[0])).toBe(0);
      }
    },
  );

  it.each(["f32", "f16", "bf16", "q8", "q4"] as const)(
    "takes an embedding as its weights, transposed, in %s",
    (dtype) => {
      const product = { rows: 4, k: 37, n: 53, dtype, epilogue: Epilogue.biasOnly };
      const [plain, transposed] = [false, true].map((isTransposed) =>
        inputsOf({ ...product, transposed: isTransposed }),
      );
      expect(transposed?.packed).toEqual(plain?.packed);
    },
  );
});

describe("a product has the bits of the matrix's values as f32, kept as", () => {
  /** Plain kernels read a weight at a time, or 16; those for GPUs take long to compile. */
  const kernelsOf = (name: string) =>
    KERNELS.filter(([kernel]) => kernel === "lane" || name === "Q6_K" || (name === "Q5_1" && kernel === "any"));

  it.each([["bf16", "bf16"] as const, ...Object.entries(PACKINGS)])("%s", async (name, layout) => {
    const block = layout === "bf16" ? 13 : layout.block;
    const k = block === 256 ? 512 : 3 * block; // an odd number of blocks
    const [rows, n] = [5, 45];
    const product = { rows, k, n, epilogue: Epilogue.biasOnly };
    const tensor = layout === "bf16" ? tensorOf(randomFloats(n * k, 7), n, k, "BF16") : randomPacked(layout, n, k, 7);
    const others = { x: randomFloats(rows * k, 2), bias: randomFloats(n, 3), before: new Float32Array(0) };
    const values = packMatrix(await readF32(tensor), k, n, "f32", { transposed: true }).words;
    const expected = await multiplyBy({ ...others, w: values, layout: "f32" }, product, "lane", 4);
    // In bands, too.
    const w = await uploadedWords(device, tensor, layout, { stagingBytes: 1 });
    expect(w.byteLength).toBe(matrixBytes(k, n, layout));
    for (const [kernel, tileRows] of kernelsOf(name)) {
      const result = await multiplyBy({ ...others, w, layout }, product, kernel, tileRows);
      expect(differingWords(result, expected), kernel).toBe(0);
    }
    expect(new Set(new Uint32Array(expected)).size).toBeGreaterThan(rows * n * 0.9);
  });
});

describe("a product of normalised rows", () => {
  const [width, n] = [70, 45];
  const [K4, N4] = [strideOf(width) / 4, strideOf(n) / 4];
  const norm = padRows(randomFloats(2 * width, 6), 2, width);
  const samples = packSamples([40, 3, 17, 8].map((row) => ({ row })));
  const allRows = packSamples(Array.from({ length: 64 }, () => ({})));
  const shape = { K4, N4, Y4: N4, ...layoutConstants("f16"), EPILOGUE: Epilogue.geluTanh };

  it.each([
    { rows: 1, SAMPLES_ONLY: false, RMS: false },
    { rows: 41, SAMPLES_ONLY: false, RMS: false },
    { rows: 4, SAMPLES_ONLY: true, RMS: true },
  ])(
    "has the bits of the norm's kernel followed by the product's: $rows rows, of samples: $SAMPLES_ONLY, RMS: $RMS",
    async ({ rows, SAMPLES_ONLY, RMS }) => {
      const normed = { NORM: true, RMS, WIDTH: width, EPSILON: 1e-5, ...NO_HEAD };
      const data = {
        x: padRows(randomFloats(64 * width, 5, 3), 64, width),
        w: packMatrix(randomFloats(width * n, 1), width, n, "f16").words,
        bias: padRows(randomFloats(n, 3), 1, n),
        y: new Float32Array(64 * 4 * N4),
        step: new Uint32Array(SAMPLES_ONLY ? [0, rows, 0, 0] : [rows, 0, 0, 0]),
        norm,
        samples,
        logit_parts: new Float32Array(4),
      };
      const constants = { K4, RMS, WIDTH: width, EPSILON: normed.EPSILON, ADD_TO_OUTPUT: false };
      const normData = SAMPLES_ONLY ? data : { ...data, samples: allRows };
      const x = floatsOf(await runKernel(device, layerNorm, constants, normData, [rows, 1]), "y");
      const laneData = { ...data, x: x as Float32Array<ArrayBuffer> };
      const laneConstants = { ...shape, SAMPLES_ONLY, LANES: 32 };
      const expected = await runKernel(device, matmulLane, laneConstants, laneData, [1, Math.ceil(rows / 4)]);
      for (const ROWS of [1, 3]) {
        const skinny = { ...shape, ...normed, SAMPLES_ONLY, COLUMNS: 8, SPLITS: 2, ROWS };
        const tiles: [number, number] = [Math.ceil(N4 / 8), Math.ceil(rows / ROWS)];
        const { y } = await runKernel(device, matmulSkinny, skinny, data, tiles);
        expect(differingWords(y, expected.y)).toBe(0);
      }
      const tile = tileOf(4);
      const tiles: [number, number] = [Math.ceil(N4 / (tile.COLUMN_LANES * tile.VECS)), Math.ceil(rows / 4)];
      const { y } = await runKernel(device, matmulTiled, { ...shape, ...normed, ...tile, SAMPLES_ONLY }, data, tiles);
      expect(differingWords(y, expected.y)).toBe(0);
      expect(new Set(new Uint32Array(expected.y ?? new ArrayBuffer(0))).size).toBeGreaterThan(rows * n * 0.9);
    },
  );
});

describe("a product's epilogue", () => {
  const product = { rows: 9, k: 40, n: 92, dtype: "f32" as const, transposed: false };
  const { x, w, bias, before } = inputsOf({ ...product, epilogue: 0 });
  const plain = matmulReference(x, w, bias, product.rows, product.k, product.n);

  it.each([
    ["gelu, tanh", Epilogue.geluTanh, plain.map(geluTanhReference)],
    ["gelu, erf", Epilogue.geluErf, plain.map(geluErfReference)],
    ["silu", Epilogue.silu, plain.map(siluReference)],
    ["relu, squared", Epilogue.relu2, plain.map(relu2Reference)],
    ["the residual", Epilogue.addToOutput, plain.map((value, i) => value + (before[i] ?? 0))],
  ])("%s", async (_, epilogue, expected) => {
    // All kernels share lib/epilogue.wgsl, except that the residual reads the output, which each kernel does itself.
    const kernels = epilogue === Epilogue.addToOutput ? KERNELS : KERNELS.filter(([name]) => /any|lane/.test(name));
    for (const [name, tileRows] of kernels) {
      expectClose(new Float32Array(await multiply({ ...product, epilogue }, name, tileRows)), expected, 5e-6);
    }
  });

  it.each([
    ["geglu, tanh", Epilogue.gegluTanh, Epilogue.geluTanh, geluTanhReference],
    ["geglu, erf", Epilogue.gegluErf, Epilogue.geluErf, geluErfReference],
    ["swiglu", Epilogue.swiglu, Epilogue.silu, siluReference],
    ["reglu, squared", Epilogue.reglu2, Epilogue.relu2, relu2Reference],
  ])("%s: the activations of two columns times the next two, with the bits of either", async (_, gate, own, act) => {
    const ofGate = { ...product, epilogue: gate };
    const { x: input, w: matrix, bias: biases } = inputsOf(ofGate);
    const sums = matmulReference(input, matrix, biases, product.rows, product.k, product.n);
    const separate = async (epilogue: number) => new Float32Array(await multiply({ ...ofGate, epilogue }, "lane", 4));
    const [activations, plains] = [await separate(own), await separate(Epilogue.biasOnly)];
    const gates = Array.from(sums.keys()).filter((column) => column % 4 < 2);
    const expected = Float32Array.from(gates, (column) => (activations[column] ?? NaN) * (plains[column + 2] ?? NaN));
    expectClose(
      expected,
      gates.map((column) => act(sums[column] ?? NaN) * (sums[column + 2] ?? NaN)),
      5e-6,
    );
    // All kernels share what writes a gate, too.
    const kernels = gate === Epilogue.swiglu ? KERNELS : KERNELS.slice(0, 2);
    for (const [name, tileRows] of kernels) {
      expect(differingWords(await multiply(ofGate, name, tileRows), expected.buffer), name).toBe(0);
    }
  });

  it("is finite for values far from zero", async () => {
    for (const epilogue of [Epilogue.geluTanh, Epilogue.geluErf, Epilogue.silu]) {
      const far = { rows: 1, k: 1, n: 6, dtype: "f32" as const, epilogue, transposed: false };
      const outputs = await runKernel(
        device,
        matmulLane,
        {
          K4: 8,
          N4: 8,
          Y4: 8,
          SAMPLES_ONLY: false,
          ...layoutConstants("f32"),
          EPILOGUE: epilogue,
          LANES: 32,
        },
        {
          x: padRows(new Float32Array([1]), 32, 1),
          w: packMatrix(new Float32Array([-1e30, -100, -30, 20, 100, 1e10]), far.k, far.n, "f32").words,
          bias: new Float32Array(32),
          y: new Float32Array(32 * 32),
          step: new Uint32Array([1, 0, 0, 0]),
        },
        [1, 1],
      );
      expectClose(floatsOf(outputs, "y").subarray(0, 6), [0, 0, 0, 20, 100, 1e10], 1e-5);
    }
  });
});

describe.each([
  { style: "plain", hasSubgroups },
  { style: "plain", hasSubgroups: false },
  { style: "fused", hasSubgroups },
] as const)("the variants of an adapter (style: $style, subgroups: $hasSubgroups)", (adapter) => {
  it("cover every number of rows, in ascending order", () => {
    const limits = defaultMatmuls(adapter).map(({ maxRows }) => maxRows);
    expect(limits).toEqual([...limits].sort((a, b) => a - b));
    expect(limits[0]).toBe(1);
    expect(limits.at(-1)).toBe(Infinity);
  });

  it("launch a lane for every column", () => {
    const shape = { K4: 24, N4: 80, Y4: 80, SAMPLES_ONLY: false, ...layoutConstants("f16"), EPILOGUE: 0 };
    for (const variant of defaultMatmuls(adapter)) {
      expect(variant.workgroups(shape, 1)[0]).toBeGreaterThanOrEqual(80 / 32);
    }
  });
});
