// Times a product of one size with weights of each dtype, in every kernel, against f16.

import { it } from "vitest";

import type { WeightsDtype } from "../../src/protocol/config.ts";
import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { makeBuffer } from "./make-buffer.ts";
import { openTestDevice } from "../../tests/gpu/gpu.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import { firstMatmul, packProduct, defaultMatmuls } from "../../src/backends/gpu/matmul-variants.ts";
import { packedBytes, weightsDtypeCode } from "../../src/backends/gpu/weights-dtype.ts";
import { matmulAny, matmulLane, matmulSkinny } from "../../src/backends/gpu/kernels/matmul.ts";

const { device, ...adapter } = await openTestDevice();
const compiler = new KernelCompiler(device);
const [K, N] = [768, 768];
const MAX_ROWS = 64;
const DTYPES: readonly WeightsDtype[] = ["f32", "f16", "q8", "q4"];

it("weights", async () => {
  const buffer = (bytes: number) => makeBuffer(device, bytes);
  const shared = {
    x: buffer(4 * MAX_ROWS * K),
    bias: buffer(4 * N),
    y: buffer(4 * MAX_ROWS * N),
    step: buffer(16),
  };
  const cases: {
    kernel: string;
    dtype: WeightsDtype;
    rows: number;
    pipeline: GPUComputePipeline;
    bindGroup: GPUBindGroup;
    workgroups: readonly [number, number];
    ms: number[];
  }[] = [];
  const standard = defaultMatmuls(adapter);
  const first = firstMatmul(standard, adapter.isSoftware);
  const tried = standard.map((variant) => ({ variant, rows: Math.min(variant.maxRows, MAX_ROWS) }));
  const triedFirst = [1, 4, MAX_ROWS].map((rows) => ({ variant: first, rows }));
  for (const { variant, rows } of [...tried, ...triedFirst]) {
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
      const product = buffer(32);
      device.queue.writeBuffer(product, 0, packProduct(shape));
      const onSoftware = () =>
        variant === first ? compiler.bind(matmulAny, { ...buffers, product }) : compiler.bind(matmulLane, buffers);
      const bindGroup = adapter.isSoftware
        ? onSoftware()
        : compiler.bind(matmulSkinny, { ...buffers, norm: shared.bias, samples: shared.bias, logit_parts: buffer(16) });
      cases.push({
        kernel: variant.name,
        dtype,
        rows,
        pipeline,
        bindGroup,
        workgroups: variant.workgroups(shape, rows),
        ms: [],
      });
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
    ["kernel", "rows", "dtype", "KiB", "ms", "over f16"],
    cases.map(({ kernel, dtype, rows, ms }) => {
      const f16 = cases.find((one) => one.dtype === "f16" && one.kernel === kernel && one.rows === rows);
      const ratio = medianOf(ms) / medianOf(f16?.ms ?? []);
      return [
        kernel,
        rows,
        dtype,
        Math.round(packedBytes(K, N, dtype) / 1024),
        medianOf(ms).toFixed(2),
        ratio.toFixed(2),
      ];
    }),
  );
});
