// Times a draw from GPT-2's vocabulary: greedy, unfiltered, and with a chat's filters.

import { it } from "vitest";

import { printTable } from "../report/table.ts";
import { medianOf } from "../statistics.ts";
import { makeBuffer } from "./make-buffer.ts";
import { openTestDevice, randomFloats } from "../../tests/gpu/gpu.ts";
import { packSamples } from "../../tests/gpu/samples.ts";
import { KernelCompiler } from "../../src/backends/gpu/kernel.ts";
import { strideOf } from "../../src/backends/gpu/padding.ts";
import { samplePlain } from "../../src/backends/gpu/kernels/sample-plain.ts";
import { BINS, sample } from "../../src/backends/gpu/kernels/sample.ts";
import { sumLogits } from "../../src/backends/gpu/kernels/sum-logits.ts";

const { device, isSoftware } = await openTestDevice();
const compiler = new KernelCompiler(device);
const VOCABULARY = 50257;
const STRIDE = strideOf(VOCABULARY);
const MAX_LENGTH = 16;
const SAMPLES = [1, 8];
/** These flags are those of a plain draw: see shaders/lib/step.wgsl. */
const PLAIN = { flags: 32 };
const REQUESTS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  greedy: { temperature: 0, ...PLAIN },
  plain: { temperature: 1, ...PLAIN },
  "top-k 40": { temperature: 0.8, top_k: 40 },
  "top-p 0.95": { temperature: 0.8, top_p: 0.95 },
};

it("sample", async () => {
  const mostSamples = Math.max(...SAMPLES);
  const LANES = isSoftware ? 8 : 256;
  const constants = { LANES, VOCABULARY, STRIDE, MAX_LENGTH };
  const plain = await compiler.pipeline(samplePlain, constants);
  const filtered = await compiler.pipeline(sample, {
    ...constants,
    PROCESSED_LOGPROBS: false,
    HISTOGRAM_IN_BUFFER: isSoftware,
  });
  const sum = await compiler.pipeline(sumLogits, { LANES, VOCABULARY, STRIDE });
  const shared = {
    logits: buffer(randomFloats(mostSamples * STRIDE, 1, 8)),
    processed: buffer(new Float32Array(4)),
    logit_parts: buffer(new Float32Array((mostSamples * STRIDE) / 8)),
    feedback: buffer(new Float32Array(mostSamples)),
    history: buffer(new Float32Array(mostSamples * MAX_LENGTH)),
    sampled: buffer(new Float32Array(2 * mostSamples)),
    bins: buffer(new Uint32Array(BINS * mostSamples)),
  };
  const cases = Object.entries(REQUESTS).flatMap(([name, request]) => {
    const samples = packSamples(Array.from({ length: mostSamples }, (_, seed) => ({ ...request, seed_low: seed })));
    const bound = { ...shared, samples: buffer(samples) };
    const isPlain = request.flags === PLAIN.flags;
    const pipeline = isPlain ? plain : filtered;
    const bindGroup = compiler.bind(isPlain ? samplePlain : sample, bound);
    const summed = compiler.bind(sumLogits, bound);
    return SAMPLES.map((count) => ({ name, count, pipeline, bindGroup, summed, ms: [] as number[] }));
  });
  for (let round = 0; round <= 15; round++) {
    for (const { count, pipeline, bindGroup, summed, ms } of cases) {
      const startMs = performance.now();
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      pass.setPipeline(sum);
      pass.setBindGroup(0, summed);
      pass.dispatchWorkgroups(Math.ceil(VOCABULARY / 32 / LANES), count);
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, bindGroup);
      pass.dispatchWorkgroups(count);
      pass.end();
      device.queue.submit([encoder.finish()]);
      await device.queue.onSubmittedWorkDone();
      if (round > 0) ms.push(performance.now() - startMs);
    }
  }
  printTable(
    `Drawing from ${VOCABULARY} tokens: median of 15, in one run`,
    ["request", "samples", "ms", "over greedy"],
    cases.map(({ name, count, ms }) => {
      const greedy = cases.find((one) => one.name === "greedy" && one.count === count);
      return [name, count, medianOf(ms).toFixed(2), (medianOf(ms) / medianOf(greedy?.ms ?? [])).toFixed(2)];
    }),
  );
});

function buffer(data: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>): GPUBuffer {
  const made = makeBuffer(device, data.byteLength);
  device.queue.writeBuffer(made, 0, data);
  return made;
}
