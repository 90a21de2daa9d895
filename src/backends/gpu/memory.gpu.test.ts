import { expect, test } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGolden } from "../../testing/models/golden.ts";
import { openTestDevice } from "../../testing/gpu/gpu.ts";
import { modelMemory } from "./memory.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");

test.each(["f32", "f16", "q8", "q4"] as const)("weights in %s take the bytes that were announced", async (dtype) => {
  const engine = resolveEngineConfig({ dtype }, weights.model.shape);
  const runner = await GpuRunner.create({ opened, weights, engine });
  expect(modelMemory(weights.model, engine).weightBytes).toBe(runner.weightBytes);
  runner.dispose();
});
