// Measures the cost of the fixed order of additions: times each matmul kernel against itself with a single chain over all
// of K. Such kernels give other bits, so they exist only here, made by editing the kernels' text.

import { it } from "vitest";

import { openTestDevice } from "../../tests/gpu/gpu.ts";
import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { weightsDtypeCode } from "../../src/backends/gpu/weights-dtype.ts";
import { KernelCompiler, type KernelConstants } from "../../src/backends/gpu/kernel.ts";
import type { Kernel } from "../../src/backends/gpu/kernel-type.ts";
import { matmulLane, matmulRow, matmulTiled } from "../../src/backends/gpu/kernels/matmul.ts";

const { device } = await openTestDevice();
const K = 768;
const N = 768;
const shape = {
  K4: K / 4,
  N4: N / 4,
  Y4: N / 4,
  SAMPLES_ONLY: false,
  WEIGHTS_DTYPE: weightsDtypeCode.f16,
  EPILOGUE: 0,
};

/** Returns the kernel with its text changed. Throws if a pattern does not match. */
function rewritten<K extends Kernel>(kernel: K, ...changes: [RegExp, string][]): K {
  let { code } = kernel;
  for (const [pattern, replacement] of changes) {
    const before = code;
    code = code.replace(pattern, replacement);
    if (code === before) throw new Error(`${kernel.name} has no ${String(pattern)}`);
  }
  return { ...kernel, code };
}

const freeRow = rewritten(
  matmulRow,
  [/var sum = vec4\(0\.0\);/, ""],
  [/var total = nothing_yet\(\);/, "var sum = vec4(0.0);"],
  [/total = fma\(sum, .*\);/, ""],
  [/store\(total/, "store(sum"],
);
/** Changes to kernels whose sums are sum0, sum1, ... */
const freeSums: [RegExp, string][] = [
  [/var sum\d = vec4\(0\.0\);/g, ""],
  [/var total(\d) = nothing_yet\(\);/g, "var sum$1 = vec4(0.0);"],
  [/total\d = fma\(.*\);/g, ""],
  [/store\(total/g, "store(sum"],
];
const freeLane = rewritten(matmulLane, ...freeSums);
const freeTiled = rewritten(
  matmulTiled,
  [/sum\[i\] = vec4\(0\.0\);/, ""],
  [/total\[.*\] = fma\(.*\);/, ""],
  [/store\(total/, "store(sum"],
);

it("the order of additions", async () => {
  const buffer = (floats: number) =>
    device.createBuffer({
      size: 4 * floats,
      usage: GPUBufferUsage.STORAGE | GPUBufferUsage.UNIFORM | GPUBufferUsage.COPY_DST,
    });
  const buffers = { x: buffer(64 * K), w: buffer(K * N), bias: buffer(N), y: buffer(64 * N), step: buffer(4) };
  const bindGroup = new KernelCompiler(device).bind(matmulLane, buffers);

  const cases: { kernel: string; rows: number; pipelines: GPUComputePipeline[]; workgroups: [number, number] }[] = [];
  // A compiler takes two kernels of the same name for one, so each gets its own compiler.
  const compile = <K extends Kernel>(kernel: K, constants: KernelConstants<K>) =>
    new KernelCompiler(device).pipeline(kernel, constants);
  const rowConstants = { ...shape, LANES: 32 };
  const rowPipelines = [await compile(matmulRow, rowConstants), await compile(freeRow, rowConstants)];
  cases.push({ kernel: "row", rows: 1, pipelines: rowPipelines, workgroups: [shape.N4 / 32, 1] });
  const laneConstants = { ...shape, LANES: 32 };
  const lanePipelines = [await compile(matmulLane, laneConstants), await compile(freeLane, laneConstants)];
  for (const rows of [4, 16]) {
    cases.push({ kernel: "lane", rows, pipelines: lanePipelines, workgroups: [shape.N4 / 32, rows / 4] });
  }
  const tile = { COLUMN_LANES: 8, ROW_LANES: 8, ROWS: 4, VECS: 1 };
  const tiledShape = {
    ...shape,
    ...tile,
    NORM: false,
    RMS: false,
    WIDTH: 0,
    EPSILON: 0,
    VOCABULARY: 0,
    FIRST_TOKEN: 0,
  };
  const tiledPipelines = [await compile(matmulTiled, tiledShape), await compile(freeTiled, tiledShape)];
  cases.push({ kernel: "tiled", rows: 64, pipelines: tiledPipelines, workgroups: [shape.N4 / 8, 2] });

  const runMs = async (pipeline: GPUComputePipeline, rows: number, workgroups: [number, number]) => {
    const repeats = 6;
    device.queue.writeBuffer(buffers.step, 0, new Uint32Array([rows, 0, 0, 0]));
    const startMs = performance.now();
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    for (let i = 0; i < repeats; i++) pass.dispatchWorkgroups(...workgroups);
    pass.end();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    return (performance.now() - startMs) / repeats;
  };

  const times = cases.map(() => [[], []] as [number[], number[]]);
  for (let round = 0; round < 15; round++) {
    for (const [i, { rows, pipelines: variants, workgroups }] of cases.entries()) {
      for (const [j, pipeline] of variants.entries()) times[i]?.[j]?.push(await runMs(pipeline, rows, workgroups));
    }
  }
  printTable(
    `The one order of additions, ${K} x ${N}, f16: median of 15, in one run`,
    ["kernel", "rows", "in order, ms", "free, ms", "ratio"],
    cases.map(({ kernel, rows }, i) => {
      const [ordered = NaN, free = NaN] = (times[i] ?? []).map(medianOf);
      return [kernel, rows, ordered.toFixed(2), free.toFixed(2), (ordered / free).toFixed(2)];
    }),
  );
});
