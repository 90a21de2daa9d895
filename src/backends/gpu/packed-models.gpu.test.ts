import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { lastLogits } from "../../../tests/gpu/runner-runs.ts";
import { differingWords, expectClose, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { openGgufWeights } from "../../../tests/models/gguf-weights.ts";
import type { OpenedDevice } from "./device.ts";
import { GpuRunner } from "./gpu-runner.ts";
import { modelMemory } from "./memory.ts";

const opened = await openTestDevice();

/** Returns the logits after a prompt, and the bytes of the weights. */
async function run(
  weights: ModelWeights,
  dtype: "stored" | "f32",
  activationDtype: "f32" | "int8" = "f32",
  adapter: Partial<OpenedDevice> = {},
) {
  const { shape } = weights.model;
  const sizes = { maxNumSeqs: 4, maxNumBatchedTokens: 32, numGpuBlocks: 64, kvCacheDtype: "f32" } as const;
  const engine = Object.assign({}, resolveEngineConfig(sizes, shape), { dtype, activationDtype });
  const runner = await GpuRunner.create({ opened: { ...opened, ...adapter }, weights, engine });
  const prompt = Array.from({ length: 23 }, (_, i) => (i * 29 + 7) % shape.vocabSize);
  const logits = await lastLogits(opened, runner, prompt, shape.vocabSize);
  const { weightBytes } = runner;
  expect(modelMemory(weights.model, engine).weightBytes).toBe(weightBytes);
  runner.dispose();
  return { logits, weightBytes };
}

async function open(set: string): Promise<ModelWeights> {
  const bytes = await (await fetch(`/tests/fixtures/gguf/${set}/${set}.gguf`)).blob();
  return openGgufWeights(new File([bytes], `${set}.gguf`));
}

// The first has a product for queries, one for keys and one for values, in all types. With the first kernels: the later ones
// have their bits (kernels/matmul.gpu.test.ts).
it.each(["llama-mix", "gpt2-q5"])("has the bits of the same values as f32: %s", async (set) => {
  const weights = await open(set);
  const packed = await run(weights, "stored");
  const whole = await run(weights, "f32");
  expect(differingWords(packed.logits.slice().buffer, whole.logits.slice().buffer)).toBe(0);
  expect(packed.logits.every(Number.isFinite)).toBe(true);
  expect(packed.weightBytes).toBeLessThan(0.5 * whole.weightBytes);
});

it("multiplies integers to the same bits by the kernels of GPUs and by plain ones, near the exact logits", async () => {
  const weights = await open("gpt2-q5");
  const plain = await run(weights, "stored", "int8", { hasSubgroups: false });
  const fused = await run(weights, "stored", "int8", { hasSubgroups: false, isSoftware: false });
  expect(differingWords(plain.logits.slice().buffer, fused.logits.slice().buffer)).toBe(0);
  const { logits } = await run(weights, "stored");
  // Of a small model with random weights; the CPU's differ as much (backends/cpu/packed-models.test.ts).
  expectClose(plain.logits, logits, 0.05 * Math.max(...logits.map(Math.abs)));
  expect(differingWords(plain.logits.slice().buffer, logits.slice().buffer)).toBeGreaterThan(logits.length / 2);
});
