// An adapter that offers nothing optional: no subgroups, no timestamps, no halves, and WebGPU's default limits. Kernels of
// software adapters and of GPUs both run on it.

import { describe, expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { openDevice } from "../../src/backends/gpu/device.ts";
import { describeModel } from "../../src/models/families.ts";
import { ALL_AT_ONCE, answersAlone, answersUnder, WITH_EVERY_RULE } from "../requests/exactness.ts";
import { goldenAnswers } from "../models/golden-answers.ts";
import { loadGolden } from "../models/golden.ts";
import { createRunner, lastLogits } from "../gpu/runner-runs.ts";
import { expectClose } from "../gpu/gpu.ts";
import { skipTuning } from "../gpu/skip-tuning.ts";
import { withOneDevice } from "../gpu/one-device.ts";
import { randomWeights } from "../models/random-weights.ts";
import { BARE, tampered } from "../gpu/tampered-gpu.ts";
import { lastLogitsReference } from "../references/graph-reference.ts";

const golden = await loadGolden("gpt2-tiny");
const F32 = { dtype: "f32", kvCacheDtype: "f32" } as const;

const onCpu = await withOneDevice(tampered(BARE));
const onGpu = await withOneDevice(tampered({ ...BARE, pretendHardware: true }));

await skipTuning(golden.weights.model, F32.dtype, false);

it("has WebGPU's default limits, and nothing else", async () => {
  const { device } = await openDevice(tampered(BARE));
  const optional = [...device.features].filter((feature) => feature !== "core-features-and-limits");
  expect(optional).toEqual([]);
  expect(device.limits).toMatchObject({
    maxStorageBufferBindingSize: 128 * 2 ** 20,
    maxStorageBuffersPerShaderStage: 8,
    maxComputeWorkgroupStorageSize: 16 * 2 ** 10,
    maxComputeInvocationsPerWorkgroup: 256,
  });
  device.destroy();
});

async function expectExact(gpu: GPU): Promise<void> {
  const base = { backend: "webgpu", model: "/tests/fixtures/gpt2-tiny/", worker: false, gpu, ...F32 } as const;
  const alone = await answersAlone(createEngine, base, WITH_EVERY_RULE);
  const { config } = ALL_AT_ONCE;
  const fullCache = { ...ALL_AT_ONCE, config: { ...config, numGpuBlocks: 9 } };
  const { rounds, hasHappened } = await answersUnder(createEngine, base, fullCache, 1, WITH_EVERY_RULE);
  for (const answers of rounds) expect(answers).toEqual(alone);
  expect(hasHappened).toBe(true);
}

describe("with the kernels of software adapters", () => {
  it("prompts of one token and of many blocks have Hugging Face's answers", async () => {
    const prompts = golden.prompts.filter(({ name }) => ["len1", "len120"].includes(name));
    const options = { backend: "webgpu", model: "/tests/fixtures/gpt2-tiny/", worker: false, gpu: onCpu } as const;
    await using engine = await createEngine({ ...options, ...F32 });
    expect(prompts).toHaveLength(2);
    for (const answer of await goldenAnswers(engine, { ...golden, prompts })) {
      expect(answer.tokens).toEqual(answer.expectedTokens);
      expect(answer.numLogprobs).toBeGreaterThanOrEqual(20);
      expect(answer.worstError).toBeLessThan(2e-4);
    }
  });

  it("a request is what it is alone, whatever happens around it", () => expectExact(onCpu));
});

// compiled-graph.gpu.test.ts and golden.gpu.test.ts hold these kernels to Hugging Face's values.
it("with the kernels of GPUs a request is what it is alone, whatever happens around it", () => expectExact(onGpu));

/** Has a device say that it binds less than it does, and refuse what is larger: a head of 128 MiB takes it long. */
function bindAtMost(device: GPUDevice, maxBytes: number): void {
  const limits = { maxBufferSize: device.limits.maxBufferSize, maxStorageBufferBindingSize: maxBytes };
  Object.defineProperty(device, "limits", { value: limits });
  const bind = device.createBindGroup.bind(device);
  device.createBindGroup = (descriptor) => {
    for (const { resource } of descriptor.entries) {
      if (!("buffer" in resource)) continue;
      const { buffer, offset = 0, size = buffer.size - offset } = resource;
      if (size > maxBytes) throw new RangeError(`A binding of ${buffer.label} has ${size} bytes.`);
    }
    return bind(descriptor);
  };
}

// gate.gpu.test.ts holds a split head to the bits of one that is whole.
it("a head larger than a binding may be is split, and has float64's logits", async () => {
  const vocabSize = 5027;
  const config = { model_type: "gpt2", n_layer: 1, n_embd: 64, n_head: 4, n_positions: 32, vocab_size: vocabSize };
  const weights = randomWeights(describeModel(config));
  const maxBytes = 2 ** 20;
  const opened = await openDevice(tampered({ ...BARE, onDevice: (device) => bindAtMost(device, maxBytes) }));
  expect(maxBytes).toBeLessThan(4 * 64 * vocabSize);
  const sizes = { maxNumSeqs: 1, maxNumBatchedTokens: 16, numGpuBlocks: 64 };
  const runner = await createRunner(opened, weights, sizes, { isComplete: false });
  const prompt = [1, 5026, 7];
  expectClose(await lastLogits(opened, runner, prompt, vocabSize), await lastLogitsReference(weights, prompt), 2e-4);
  runner.dispose();
  opened.device.destroy();
});
