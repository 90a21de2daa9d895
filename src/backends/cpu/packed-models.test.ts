import { expect, it } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { StepPlanner } from "../../engine/step-planner.ts";
import type { EngineConfig } from "../../protocol/config.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import { openBundledHelper } from "../../../tests/cpu/bundled-helper.ts";
import { allowRelaxedSimd, bitsOf, expectNear } from "../../../tests/cpu/cpu.ts";
import { placedSequence } from "../../../tests/gpu/runner-runs.ts";
import { openGgufFixture } from "../../../tests/models/gguf-fixture.ts";
import { cpuBackend } from "./cpu-backend.ts";
import type { CpuRunner } from "./cpu-runner.ts";

allowRelaxedSimd();

const SIZES = { maxNumSeqs: 4, numGpuBlocks: 16, maxModelLen: 64 } as const;

/** Returns the logits after a prompt, and the bytes of the weights, taken and estimated. */
async function run(weights: ModelWeights, config: EngineConfig, { threads = 1, hasRelaxedSimd = true } = {}) {
  const { model } = weights;
  const engine = resolveEngineConfig({ ...SIZES, cpuThreads: threads, ...config }, model.shape);
  const openHelper = threads > 1 ? openBundledHelper : null;
  const backend = await cpuBackend({ most: threads, openHelper }, { hasSimd: true, hasRelaxedSimd }).open();
  const runner = (await backend.load({ weights, engine })) as CpuRunner;
  const ids = Array.from({ length: 23 }, (_, i) => (i * 29 + 7) % model.shape.vocabSize);
  const sequence = placedSequence(ids, 0, ids.length);
  const entry = { sequence, start: 0, count: ids.length, samples: true, drafts: [], scored: 0, cachedTokens: 0 };
  await runner.submit(new StepPlanner().plan([entry]));
  const logits = runner.logits[0]?.slice() ?? new Float32Array();
  runner.dispose();
  return { logits, weightBytes: runner.weightBytes, estimated: backend.memory(model, engine).weightBytes };
}

const SETS = ["llama-mix", "qwen3-q8", "gemma3-q4", "gpt2-q5", "qwen2-small"];
const F32 = { dtype: "f32" } as const;
const STORED = { dtype: "stored", activationDtype: "f32" } as const;
const INT8 = { dtype: "stored", activationDtype: "int8" } as const;

it.each([...SETS.map((set) => [set, 1] as const), ["llama-mix", 2] as const])(
  "has the bits of the same values as f32: %s, %i threads",
  async (set, threads) => {
    const weights = await openGgufFixture(set);
    const packed = await run(weights, STORED, { threads });
    const whole = await run(weights, F32);
    expect(bitsOf(packed.logits)).toEqual(bitsOf(whole.logits));
    expect(packed.logits).not.toContain(NaN);
    expect(packed.estimated).toBe(packed.weightBytes);
    expect(packed.weightBytes).toBeLessThan(0.5 * whole.weightBytes);
  },
);

it.each(SETS)("multiplies integers to the same bits on any machine: %s", async (set) => {
  const weights = await openGgufFixture(set);
  const { logits } = await run(weights, INT8);
  for (const on of [{ threads: 2 }, { hasRelaxedSimd: false }]) {
    expect(bitsOf((await run(weights, INT8, on)).logits)).toEqual(bitsOf(logits));
  }
  const whole = (await run(weights, F32)).logits;
  // Of small models with random weights.
  const largest = Math.max(...whole.map(Math.abs));
  const shares = [logits, whole].map((values) => values.map((value) => value / largest)) as [
    Float32Array,
    Float32Array,
  ];
  expectNear(...shares, 0.05);
});
