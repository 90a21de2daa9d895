// An adapter that offers nothing optional: no subgroups, no timestamps, no halves, and WebGPU's default limits. Kernels of
// software adapters and of GPUs both run on it.

import { describe, expect, it } from "vitest";

import { createEngine, type CreateEngineOptions } from "./index.ts";
import { openDevice } from "./backends/gpu/device.ts";
import { describeModel } from "./models/families.ts";
import { ALL_AT_ONCE, answersAlone, answersUnder } from "./testing/requests/exactness.ts";
import { CHECKPOINTS, checkpointFiles, goldenAnswers } from "./testing/models/golden-answers.ts";
import { loadGolden } from "./testing/models/golden.ts";
import { createRunner, lastLogits } from "./testing/gpu/runner-runs.ts";
import { differingWords } from "./testing/gpu/gpu.ts";
import { skipTuning } from "./testing/gpu/skip-tuning.ts";
import { withOneDevice } from "./testing/gpu/one-device.ts";
import { randomWeights } from "./testing/models/random-weights.ts";
import { BARE, tampered } from "./testing/gpu/tampered-gpu.ts";

const golden = await loadGolden("gpt2-tiny");
const F32 = { dtype: "f32", kvCacheDtype: "f32" } as const;
const F16 = { dtype: "f16", kvCacheDtype: "f16" } as const;

const onCpu = await withOneDevice(tampered(BARE));
const onGpu = await withOneDevice(tampered({ ...BARE, pretendHardware: true }));

await skipTuning(golden.weights.model, F32.dtype, false);

async function expectGolden(
  model: CreateEngineOptions["model"],
  gpu: GPU,
  prompts: typeof golden.prompts,
): Promise<void> {
  await using engine = await createEngine({ backend: "webgpu", model, worker: false, gpu, ...F32 });
  for (const answer of await goldenAnswers(engine, { ...golden, prompts })) {
    expect(answer.tokens).toEqual(answer.expectedTokens);
    expect(answer.numLogprobs).toBeGreaterThanOrEqual(20);
    expect(answer.worstError).toBeLessThan(2e-4);
  }
}

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

async function expectExact(gpu: GPU, dtypes: typeof F32 | typeof F16): Promise<void> {
  const base = { backend: "webgpu", model: "/fixtures/gpt2-tiny/", worker: false, gpu, ...dtypes } as const;
  const alone = await answersAlone(createEngine, base);
  const { rounds, hasHappened } = await answersUnder(createEngine, base, ALL_AT_ONCE, 1);
  for (const answers of rounds) expect(answers).toEqual(alone);
  expect(hasHappened).toBe(true);
}

describe("with the kernels of software adapters", () => {
  it("short prompts have Hugging Face's answers", async () => {
    await expectGolden("/fixtures/gpt2-tiny/", onCpu, golden.prompts.slice(0, 3));
  });

  it.each(CHECKPOINTS)("%s answers as Hugging Face's code does", async (checkpoint) => {
    await expectGolden(await checkpointFiles(checkpoint), onCpu, golden.prompts.slice(0, 2));
  });

  it("a request is what it is alone, whatever happens around it", async () => {
    await expectExact(onCpu, F16);
  });
});

describe("with the kernels of GPUs, which are slow here", () => {
  it("short prompts have Hugging Face's answers", async () => {
    await expectGolden("/fixtures/gpt2-tiny/", onGpu, golden.prompts.slice(0, 3));
  });

  it("a request is what it is alone, whatever happens around it", async () => {
    await expectExact(onGpu, F32);
  });
});

it("a head of more than 128 MiB is split, and gives the bits of one that is whole", async () => {
  const vocabSize = 50257;
  const weights = randomWeights(
    describeModel({ model_type: "gpt2", n_layer: 1, n_positions: 32, vocab_size: vocabSize }),
  );
  const headBytes = 4 * 768 * vocabSize;
  const logitsOn = async (gpu: GPU) => {
    const opened = await openDevice(gpu);
    const runner = await createRunner(opened, weights, { maxNumSeqs: 1, maxNumBatchedTokens: 16, numGpuBlocks: 64 });
    const logits = await lastLogits(opened, runner, [1, 50256, 7], vocabSize);
    const isWhole = opened.device.limits.maxStorageBufferBindingSize >= headBytes;
    runner.dispose();
    opened.device.destroy();
    return { isWhole, logits: logits.slice().buffer };
  };
  // With subgroups attention would have another order of additions.
  const whole = await logitsOn(tampered({ noFeatures: true }));
  const split = await logitsOn(tampered(BARE));
  expect([whole.isWhole, split.isWhole]).toEqual([true, false]);
  expect(differingWords(whole.logits, split.logits)).toBe(0);
});
