// Times GPT-2 124M's head and the draw with the kernels for GPUs. The sampler reads either all logits, or the head's
// summary of each 32 of them.

import { it } from "vitest";

import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { makeBuffer } from "./make-buffer.ts";
import { openTestDevice, randomFloats } from "../../tests/gpu/gpu.ts";
import { packSamples } from "../../tests/gpu/samples.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import { defaultMatmuls } from "../../src/backends/gpu/matmul-variants.ts";
import { strideOf } from "../../src/backends/gpu/padding.ts";
import { packedBytes, weightsDtypeCode } from "../../src/backends/gpu/weights-dtype.ts";
import { Epilogue, matmulSkinny } from "../../src/backends/gpu/kernels/matmul.ts";
import { samplePlain } from "../../src/backends/gpu/kernels/sample-plain.ts";
import { sample } from "../../src/backends/gpu/kernels/sample.ts";
import { sumLogits } from "../../src/backends/gpu/kernels/sum-logits.ts";

const { device, hasSubgroups } = await openTestDevice();
const compiler = new KernelCompiler(device);
const [WIDTH, VOCABULARY] = [768, 50257];
const STRIDE = strideOf(VOCABULARY);
const MAX_LENGTH = 16;
const ROWS = [1, 8, 32];
/** These flags are those of a plain draw: see shaders/lib/step.wgsl. */
const PLAIN = { flags: 32 };
const REQUESTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  greedy: { temperature: 0, ...PLAIN },
  free: { temperature: 1, ...PLAIN },
  "top-p 0.95": { temperature: 0.8, top_p: 0.95 },
};

interface Case {
  rows: number;
  name: string;
  hasParts: number;
  run: (pass: GPUComputePassEncoder) => void;
  ms: number[];
}

it("head and sample", async () => {
  const most = Math.max(...ROWS);
  const buffer = (bytes: number) => makeBuffer(device, bytes);
  const shared = {
    x: buffer(4 * most * WIDTH),
    w: buffer(packedBytes(WIDTH, VOCABULARY, "f16")),
    bias: buffer(4 * STRIDE),
    y: buffer(4 * most * STRIDE),
    logit_parts: buffer((most * STRIDE) / 2),
    step: buffer(16),
    feedback: buffer(4 * most),
    history: buffer(4 * most * MAX_LENGTH),
    sampled: buffer(8 * most),
    bins: buffer(16),
    processed: buffer(16),
  };
  device.queue.writeBuffer(shared.x, 0, randomFloats(most * WIDTH, 1));
  device.queue.writeBuffer(shared.bias, 0, randomFloats(STRIDE, 2, 4));
  const [K4, N4] = [WIDTH / 4, STRIDE / 4];
  const head = { VOCABULARY, FIRST_TOKEN: 0 };
  const constants = { LANES: 256, VOCABULARY, STRIDE, MAX_LENGTH };
  const plain = await compiler.pipeline(samplePlain, constants);
  const filtered = await compiler.pipeline(sample, {
    ...constants,
    PROCESSED_LOGPROBS: false,
    HISTOGRAM_IN_BUFFER: false,
  });
  const sum = await compiler.pipeline(sumLogits, { LANES: 64, VOCABULARY, STRIDE });
  const cases: Case[] = [];
  for (const rows of ROWS) {
    const variant = defaultMatmuls({ isSoftware: false, hasSubgroups }).find(({ maxRows }) => maxRows >= rows);
    if (!variant) throw new Error(`no kernel for ${rows} rows`);
    for (const [hasParts, EPILOGUE] of [Epilogue.biasOnly, Epilogue.head].entries()) {
      const shape = { K4, N4, Y4: N4, SAMPLES_ONLY: true, WEIGHTS_DTYPE: weightsDtypeCode.f16, EPILOGUE };
      const product = await compiler.compile(variant.kernel(shape, { head }));
      for (const [name, request] of Object.entries(REQUESTS)) {
        const requests = packSamples(Array.from({ length: rows }, (_, seed_low) => ({ ...request, seed_low })));
        const samples = buffer(requests.byteLength);
        device.queue.writeBuffer(samples, 0, requests);
        const isPlain = request.flags === PLAIN.flags;
        const run = (pass: GPUComputePassEncoder) => {
          pass.setPipeline(product);
          pass.setBindGroup(0, compiler.bind(matmulSkinny, { ...shared, norm: shared.bias, samples }));
          pass.dispatchWorkgroups(...variant.workgroups(shape, rows));
          if (hasParts === 0) {
            pass.setPipeline(sum);
            pass.setBindGroup(0, compiler.bind(sumLogits, { ...shared, logits: shared.y, samples }));
            pass.dispatchWorkgroups(Math.ceil(VOCABULARY / 32 / 64), rows);
          }
          pass.setPipeline(isPlain ? plain : filtered);
          pass.setBindGroup(0, compiler.bind(isPlain ? samplePlain : sample, { ...shared, logits: shared.y, samples }));
          pass.dispatchWorkgroups(rows);
        };
        cases.push({ rows, name, hasParts, run, ms: [] });
      }
    }
  }
  for (let round = 0; round <= 9; round++) {
    for (const { rows, run, ms } of cases) {
      device.queue.writeBuffer(shared.step, 0, new Uint32Array([0, rows, 0, 0]));
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      const startMs = performance.now();
      run(pass);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      if (round > 0) ms.push(performance.now() - startMs);
    }
  }
  const apart = cases.filter(({ hasParts }) => hasParts === 0);
  printTable(
    `Head and draw, ${WIDTH} by ${VOCABULARY} in f16: median of 9, in one run`,
    ["request", "samples", "summary apart, ms", "by the head, ms", "ratio"],
    apart.map(({ name, rows, ms }) => {
      const fused = cases.find((one) => one.name === name && one.rows === rows && one.hasParts === 1);
      const [before, after] = [medianOf(ms), medianOf(fused?.ms ?? [])];
      return [name, rows, before.toFixed(2), after.toFixed(2), (after / before).toFixed(2)];
    }),
  );
});
