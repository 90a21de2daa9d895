// An adapter that offers nothing optional: no subgroups, no timestamps, no halves, and WebGPU's default limits. Kernels of
// software adapters and of GPUs both run on it.

import { describe, expect, it } from "vitest";

import { createEngine } from "./index.ts";
import { openDevice } from "./backends/gpu/device.ts";
import { tuningKey } from "./backends/gpu/matmul-tuning.ts";
import { usualMatmuls } from "./backends/gpu/matmul-variants.ts";
import { indexedDbTuningStore } from "./host/platforms/tuning-store.ts";
import { describeModel } from "./models/families.ts";
import { answersAlone, answersUnder, CIRCUMSTANCES } from "./testing/exactness.ts";
import { CHECKPOINTS, checkpointFiles, goldenAnswers } from "./testing/golden-answers.ts";
import { loadGolden } from "./testing/golden.ts";
import { createRunner, lastLogits } from "./testing/runner-runs.ts";
import { differingWords } from "./testing/gpu.ts";
import { withOneDevice } from "./testing/one-device.ts";
import { randomWeights } from "./testing/random-weights.ts";
import { BARE, PRETENDED_ADAPTER, tampered } from "./testing/tampered-gpu.ts";

const golden = await loadGolden("gpt2-tiny");
const F32 = { dtype: "f32", kvCacheDtype: "f32" } as const;
const F16 = { dtype: "f16", kvCacheDtype: "f16" } as const;

// Kernels of GPUs are slow on the software adapter that all of them run on here: they have the shorter list.
const KINDS = [
  {
    kind: "that computes on the CPU",
    gpu: await withOneDevice(tampered(BARE)),
    checkpoints: CHECKPOINTS,
    dtypes: [F32, F16],
  },
  {
    kind: "that is a GPU",
    gpu: await withOneDevice(tampered({ ...BARE, pretendHardware: true })),
    checkpoints: CHECKPOINTS.slice(0, 1),
    dtypes: [F16],
  },
];

// Measuring which kernels are fastest, which a test of its own does, takes a software adapter half a minute.
const usual = usualMatmuls({ isSoftware: false, hasSubgroups: false }).map(({ name }) => name);
for (const { dtype } of [F32, F16]) {
  await indexedDbTuningStore().save(tuningKey(PRETENDED_ADAPTER, golden.weights.model, dtype), usual);
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

describe.each(KINDS)("on a bare adapter $kind", ({ gpu, checkpoints, dtypes: kinds }) => {
  it.each(checkpoints)("%s answers as Hugging Face's code does", async (checkpoint) => {
    const model = await checkpointFiles(checkpoint);
    await using engine = await createEngine({ model, worker: false, gpu, ...F32 });
    for (const answer of await goldenAnswers(engine, golden)) {
      expect(answer.tokens).toEqual(answer.expectedTokens);
      expect(answer.numLogprobs).toBeGreaterThanOrEqual(20);
      expect(answer.worstError).toBeLessThan(2e-4);
    }
  });

  it.each(kinds)("a request is what it is alone, whatever happens around it: in $dtype", async (dtypes) => {
    const base = { model: "/fixtures/gpt2-tiny/", worker: false, gpu, ...dtypes };
    const alone = await answersAlone(createEngine, base);
    for (const circumstance of CIRCUMSTANCES) {
      const { rounds, hasHappened } = await answersUnder(createEngine, base, circumstance, 1);
      for (const answers of rounds) expect(answers, circumstance.name).toEqual(alone);
      expect(hasHappened, circumstance.name).toBe(true);
    }
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
