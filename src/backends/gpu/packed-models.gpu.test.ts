import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { lastLogits } from "../../../tests/gpu/runner-runs.ts";
import { differingWords, openTestDevice } from "../../../tests/gpu/gpu.ts";
import { openGgufWeights } from "../../../tests/models/gguf-weights.ts";
import { GpuRunner } from "./gpu-runner.ts";
import { modelMemory } from "./memory.ts";

const opened = await openTestDevice();

/** Returns the logits after a prompt, and the bytes of the weights. */
async function run(weights: ModelWeights, dtype: "stored" | "f32") {
  const { shape } = weights.model;
  const sizes = { maxNumSeqs: 4, maxNumBatchedTokens: 32, numGpuBlocks: 64, kvCacheDtype: "f32" } as const;
  const engine = Object.assign({}, resolveEngineConfig(sizes, shape), { dtype });
  const runner = await GpuRunner.create({ opened, weights, engine });
  const prompt = Array.from({ length: 23 }, (_, i) => (i * 29 + 7) % shape.vocabSize);
  const logits = await lastLogits(opened, runner, prompt, shape.vocabSize);
  const { weightBytes } = runner;
  expect(modelMemory(weights.model, engine).weightBytes).toBe(weightBytes);
  runner.dispose();
  return { logits, weightBytes };
}

// The first has a product for queries, one for keys and one for values, in all types. With the first kernels: the later ones
// have their bits (kernels/matmul.gpu.test.ts).
it.each(["llama-mix", "gpt2-q5"])("has the bits of the same values as f32: %s", async (set) => {
  const bytes = await (await fetch(`/tests/fixtures/gguf/${set}/${set}.gguf`)).blob();
  const weights = await openGgufWeights(new File([bytes], `${set}.gguf`));
  const packed = await run(weights, "stored");
  const whole = await run(weights, "f32");
  expect(differingWords(packed.logits.slice().buffer, whole.logits.slice().buffer)).toBe(0);
  expect(packed.logits.every(Number.isFinite)).toBe(true);
  expect(packed.weightBytes).toBeLessThan(0.5 * whole.weightBytes);
});
