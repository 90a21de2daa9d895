// Times a product of one size with weights of each dtype, in every kernel, against f16.

import { it } from "vitest";

import type { WeightsDtype } from "../../../protocol/config.ts";
import { makeBuffer, medianOf, printTable } from "../../../testing/benchmarks/bench.ts";
import { openTestDevice } from "../../../testing/gpu/gpu.ts";
import { KernelCompiler } from "../kernel.ts";
import { usualMatmuls } from "../matmul-variants.ts";
import { packedBytes, weightsDtypeCode } from "../weights-dtype.ts";
import { matmulLane, matmulSkinny } from "./matmul.ts";

const { device, ...adapter } = await openTestDevice();
const compiler = new KernelCompiler(device);
const [K, N] = [768, 768];
const MOST_ROWS = 64;
const DTYPES: readonly WeightsDtype[] = ["f32", "f16", "q8", "q4"];

it("weights", async () => {
  const buffer = (bytes: number) => makeBuffer(device, bytes);
  const shared = {
    x: buffer(4 * MOST_ROWS * K),
    bias: buffer(4 * N),
    y: buffer(4 * MOST_ROWS * N),
    step: buffer(16),
  };
  const cases: {
    dtype: WeightsDtype;
    rows: number;
    pipeline: GPUComputePipeline;
    bindGroup: GPUBindGroup;
    workgroups: readonly [number, number];
    ms: number[];
  }[] = [];
  for (const variant of usualMatmuls(adapter)) {
    const rows = Math.min(variant.maxRows, MOST_ROWS);
    for (const dtype of DTYPES) {
      const shape = {
        K4: K / 4,
        N4: N / 4,
        Y4: N / 4,
        SAMPLES_ONLY: false,
        WEIGHTS_DTYPE: weightsDtypeCode[dtype],
        EPILOGUE: 0,
      };
      const pipeline = await compiler.compile(variant.kernel(shape));
      const buffers = { ...shared, w: buffer(packedBytes(K, N, dtype)) };
      const bindGroup = adapter.isSoftware
        ? compiler.bind(matmulLane, buffers)
        : compiler.bind(matmulSkinny, { ...buffers, norm: shared.bias, samples: shared.bias, logit_parts: buffer(16) });
      cases.push({ dtype, rows, pipeline, bindGroup, workgroups: variant.workgroups(shape, rows), ms: [] });
    }
  }
  for (let round = 0; round < 15; round++) {
    for (const { rows, pipeline, bindGroup, workgroups, ms } of cases) {
      const repeats = 6;
      device.queue.writeBuffer(shared.step, 0, new Uint32Array([rows, 0, 0, 0]));
      const startMs = performance.now();
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      for (let i = 0; i < repeats; i++) pass.dispatchWorkgroups(...workgroups);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      ms.push((performance.now() - startMs) / repeats);
    }
  }
  printTable(
    `Weights, ${K} x ${N}: median of 15, in one run`,
    ["rows", "dtype", "KiB", "ms", "over f16"],
    cases.map(({ dtype, rows, ms }) => {
      const f16 = cases.find((one) => one.dtype === "f16" && one.rows === rows);
      const ratio = medianOf(ms) / medianOf(f16?.ms ?? []);
      return [rows, dtype, Math.round(packedBytes(K, N, dtype) / 1024), medianOf(ms).toFixed(2), ratio.toFixed(2)];
    }),
  );
});
