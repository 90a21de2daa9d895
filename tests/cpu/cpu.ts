// Running single kernels of the CPU backend, for its tests.

import v8 from "node:v8";

import { expect } from "vitest";

import {
  assembleKernels,
  embedOf,
  instantiateKernels,
  productOf,
  type KernelOptions,
} from "../../src/backends/cpu/kernels/kernels.ts";
import { kernelsFor } from "../../src/backends/cpu/kernels/panels.ts";
import type { Kernels } from "../../src/backends/cpu/kernels/signatures.ts";
import { MemoryMap } from "../../src/backends/cpu/memory-map.ts";
import { packBand } from "../../src/backends/cpu/pack/pack-band.ts";
import { packTensor } from "../../src/backends/cpu/pack/pack-tensor.ts";
import { panelShape, strideOf, type PanelMatrix } from "../../src/backends/cpu/pack/panel-matrix.ts";
import type { Tensor } from "../../src/files/tensor.ts";
import type { WeightLayout } from "../../src/files/packing.ts";
import type { FloatsDtype } from "../../src/protocol/config.ts";
import { PACKINGS } from "../references/packed-tensor.ts";
import { seededRandom } from "../../lab/seeded-random.ts";

allowRelaxedSimd();

const PAGES = 256;

const modules = new Map<string, Promise<WebAssembly.Module>>();

function compiled(options: KernelOptions): Promise<WebAssembly.Module> {
  const key = JSON.stringify(options);
  const module = modules.get(key) ?? WebAssembly.compile(assembleKernels(options));
  modules.set(key, module);
  return module;
}

export interface TestKernels {
  readonly kernels: Kernels;
  readonly product: ReturnType<typeof productOf>;
  readonly embed: ReturnType<typeof embedOf>;
  readonly memory: WebAssembly.Memory;
  /** Copies values into memory and returns where. */
  readonly put: (values: Float32Array | Uint32Array) => number;
  /** Returns the address of zeros. */
  readonly take: (bytes: number) => number;
  readonly floats: (address: number, count: number) => Float32Array;
  readonly words: (address: number, count: number) => Uint32Array;
  readonly matrix: (values: Float32Array, k: number, n: number, isTransposed?: boolean) => PanelMatrix;
  /** Packs a matrix [n, k]. */
  readonly matrixOf: (tensor: Tensor) => Promise<PanelMatrix>;
}

/** Returns how a dtype keeps matrices. */
export function layoutOf(dtype: FloatsDtype): WeightLayout {
  return dtype === "q8" || dtype === "q4" ? PACKINGS[dtype] : dtype;
}

/** Returns kernels for weights of one layout. */
export async function testKernels({
  layout = "f32",
  ...some
}: Partial<Omit<KernelOptions, "memory" | "layouts"> & { readonly layout: WeightLayout }> = {}): Promise<TestKernels> {
  const module = await compiled({
    math: "portable",
    cache: { dtype: "f32", headSize: 8, blockSize: 16 },
    queriesPerKey: 1,
    ...some,
    layouts: [layout],
    memory: { isShared: false, pages: PAGES },
  });
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES });
  const kernels = await instantiateKernels(module, memory);
  const map = new MemoryMap();
  const take = (size: number) => {
    const address = map.take(size);
    expect(map.pages).toBeLessThanOrEqual(PAGES);
    return address;
  };
  const takeMatrix = (k: number, n: number): PanelMatrix => {
    const shape = panelShape(k, n, layout);
    return { ...shape, address: take(shape.bytes) };
  };
  return {
    kernels,
    product: productOf(kernels, kernelsFor(layout)),
    embed: embedOf(kernels, kernelsFor(layout)),
    memory,
    take,
    put(values) {
      const address = take(values.byteLength);
      const target = values instanceof Float32Array ? new Float32Array(memory.buffer) : new Uint32Array(memory.buffer);
      target.set(values, address / 4);
      return address;
    },
    floats: (address, count) => new Float32Array(memory.buffer, address, count).slice(),
    words: (address, count) => new Uint32Array(memory.buffer, address, count).slice(),
    matrix(values, k, n, isTransposed = false) {
      const matrix = takeMatrix(k, n);
      const band = { values: Float32Array.from(values), columns: isTransposed ? k : n, firstRow: 0 };
      packBand(memory.buffer, matrix, band, isTransposed);
      return matrix;
    },
    async matrixOf(tensor) {
      const matrix = takeMatrix(tensor.columns, tensor.rows);
      await packTensor(memory.buffer, matrix, tensor, true);
      return matrix;
    },
  };
}

/** Node 20 has relaxed SIMD behind a flag, which counts for modules compiled afterwards. */
export function allowRelaxedSimd(): void {
  v8.setFlagsFromString("--experimental-wasm-relaxed-simd");
}

/** Numbers of a normal distribution. */
export function randomNormals(count: number, seed: number, deviation = 1): Float32Array<ArrayBuffer> {
  const random = seededRandom(seed);
  return Float32Array.from({ length: count }, () => {
    const radius = Math.sqrt(-2 * Math.log(1 - random()));
    return deviation * radius * Math.cos(2 * Math.PI * random());
  });
}

/** Rows padded with zeros to their stride. */
export function paddedRows(values: Float32Array, rows: number, width: number): Float32Array<ArrayBuffer> {
  const stride = strideOf(width);
  const padded = new Float32Array(rows * stride);
  for (let row = 0; row < rows; row++) padded.set(values.subarray(row * width, (row + 1) * width), row * stride);
  return padded;
}

/** The bits of floats, so that a comparison tells zeros of either sign and NaNs apart. */
export function bitsOf(values: Float32Array): number[] {
  return [...new Uint32Array(values.slice().buffer)];
}

/** Every value within `tolerance` of what is expected, times the larger of 1 and its size. */
export function expectNear(actual: ArrayLike<number>, expected: ArrayLike<number>, tolerance: number): void {
  expect(actual.length).toBe(expected.length);
  let worst = 0;
  let at = 0;
  for (let i = 0; i < expected.length; i++) {
    const want = expected[i] ?? NaN;
    const error = Math.abs((actual[i] ?? NaN) - want) / Math.max(1, Math.abs(want));
    if (!(error <= worst)) [worst, at] = [error, i];
    if (Number.isNaN(error)) break;
  }
  expect(worst, `value ${at}: ${actual[at]} for ${expected[at]}`).toBeLessThanOrEqual(tolerance);
}
