import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { openBundledHelper } from "../../../tests/cpu/bundled-helper.ts";
import { allowRelaxedSimd, bitsOf } from "../../../tests/cpu/cpu.ts";
import { placedSequence } from "../../../tests/gpu/runner-runs.ts";
import { openGgufFixture } from "../../../tests/models/gguf-fixture.ts";
import { cpuBackend } from "./cpu-backend.ts";
import type { CpuRunner } from "./cpu-runner.ts";

allowRelaxedSimd();

const SIZES = { maxNumSeqs: 4, numGpuBlocks: 16, maxModelLen: 64 } as const;

/** Returns the bits of the logits after a prompt, and the bytes of the weights, taken and estimated. */
async function run(weights: ModelWeights, dtype: "stored" | "f32", most: number) {
  const { model } = weights;
  const engine = Object.assign({}, resolveEngineConfig({ ...SIZES, cpuThreads: most }, model.shape), { dtype });
  const backend = await cpuBackend({ most, openHelper: most > 1 ? openBundledHelper : null }).open();
  const runner = (await backend.load({ weights, engine })) as CpuRunner;
  const ids = Array.from({ length: 23 }, (_, i) => (i * 29 + 7) % model.shape.vocabSize);
  const sequence = placedSequence(ids, 0, ids.length);
  const entry = { sequence, start: 0, count: ids.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  await runner.submit(new StepPlanner().plan([entry]));
  const logits = bitsOf(runner.logits[0] ?? new Float32Array());
  runner.dispose();
  return { logits, weightBytes: runner.weightBytes, estimated: backend.memory(model, engine).weightBytes };
}

it.each([
  ["llama-mix", 1],
  ["llama-mix", 2],
  ["qwen3-q8", 1],
  ["gemma3-q4", 1],
  ["gpt2-q5", 1],
  ["qwen2-small", 1],
] as const)("has the bits of the same values as f32: %s, %i threads", async (set, threads) => {
  const weights = await openGgufFixture(set);
  const packed = await run(weights, "stored", threads);
  const whole = await run(weights, "f32", 1);
  expect(packed.logits).toEqual(whole.logits);
  expect(packed.logits).not.toContain(NaN);
  expect(packed.estimated).toBe(packed.weightBytes);
  expect(packed.weightBytes).toBeLessThan(0.5 * whole.weightBytes);
});
