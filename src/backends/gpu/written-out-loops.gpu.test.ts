import { expect, it } from "vitest";

import { differingWords, openTestDevice, randomFloats, runKernel } from "../../../tests/gpu/gpu.ts";
import { packMatrix } from "../../../tests/references/pack-matrix.ts";
import { packSamples } from "../../../tests/gpu/samples.ts";
import { PACKINGS, randomPacked } from "../../../tests/references/packed-tensor.ts";
import { uploadedWords } from "../../../tests/gpu/uploaded-words.ts";
import { Epilogue } from "../epilogues.ts";
import type { Kernel } from "./define-kernel.ts";
import { KernelCompiler, type KernelConstants } from "./kernel.ts";
import { layerNorm, matmulInteger, matmulSkinny, quantiseRows } from "./kernels/kernels.ts";
import { layoutConstants } from "./matrix-layout.ts";
import { padRows, strideOf } from "./padding.ts";
import { specialise } from "./specialise.ts";

const { device } = await openTestDevice();
const writing = new KernelCompiler(device, { writesLoops: true });

const [ROWS, K, N] = [5, 96, 45];
const [K4, N4] = [strideOf(K) / 4, strideOf(N) / 4];
const x = padRows(randomFloats(16 * K, 2), 16, K);
const step = new Uint32Array([ROWS, 0, 0, 0]);
const y = () => new Float32Array(16 * 4 * N4);
const bias = padRows(randomFloats(N, 3), 1, N);
const norm = padRows(randomFloats(2 * K, 4), 2, K);
const samples = packSamples(Array.from({ length: 16 }, (_, row) => ({ row })));

const shape = { K4, N4, Y4: N4, SAMPLES_ONLY: false, EPILOGUE: Epilogue.biasOnly };
const ofNorm = { RMS: true, WIDTH: K, EPSILON: 1e-5 };

type Run = readonly [
  Kernel,
  KernelConstants,
  Parameters<typeof runKernel>[3],
  workgroups: readonly [x: number, y: number],
];

const RUNS: Readonly<Record<string, () => Promise<Run>>> = {
  "matmul-skinny": () => {
    const tile = { COLUMNS: 8, SPLITS: 2, ROWS: 3, NORM: true, VOCABULARY: 0, FIRST_TOKEN: 0, ...ofNorm };
    const w = packMatrix(randomFloats(K * N, 1), K, N, "f16").words;
    const data = { x, w, bias, norm, samples, y: y(), step, logit_parts: new Float32Array(4) };
    const constants = { ...shape, ...layoutConstants("f16"), ...tile };
    return Promise.resolve([matmulSkinny, constants, data, [Math.ceil(N4 / 8), 2]]);
  },
  "matmul-integer": async () => {
    const packing = PACKINGS.Q4_1;
    if (!packing) throw new Error("There is no packing Q4_1.");
    const quantised = { x, y: new Uint32Array((x.length / 32) * 12) };
    const rows = await runKernel(device, quantiseRows, { K4, LANES: 8 }, quantised, [1, 16]);
    const w = await uploadedWords(device, randomPacked(packing, N, K, 7), packing);
    const data = { x: new Uint32Array(rows.y ?? new ArrayBuffer(0)), w, bias, y: y(), step };
    const tile = { COLUMNS: 4, SPLITS: 2, ROWS: 4 };
    return [matmulInteger, { ...shape, ...layoutConstants(packing), ...tile }, data, [Math.ceil(N4 / 4), 2]];
  },
  "layer-norm": () => {
    const data = { x, norm, samples, y: new Float32Array(x.length) };
    return Promise.resolve([layerNorm, { K4, ADD_TO_OUTPUT: false, ...ofNorm }, data, [ROWS, 1]]);
  },
};

it.each(Object.keys(RUNS))("%s has the same bits with its short loops written out", async (name) => {
  const run = await RUNS[name]?.();
  if (!run) throw new Error(`no run of ${name}`);
  const [kernel, constants] = run;
  expect(specialise(kernel, constants, true)).not.toBe(specialise(kernel, constants));
  const [usual, written] = await Promise.all([runKernel(device, ...run), runKernel(device, ...run, writing)]);
  expect(differingWords(written.y, usual.y)).toBe(0);
  expect(new Set(new Uint32Array(usual.y ?? new ArrayBuffer(0))).size).toBeGreaterThan(ROWS * N * 0.9);
});
