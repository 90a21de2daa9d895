import { expect, test } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { modelMemory } from "./memory.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const DTYPES = ["f32", "f16", "q8", "q4"] as const;
const kinds = DTYPES.flatMap((dtype) => (["gpt2-tiny", "llama-tiny/tied"] as const).map((name) => ({ dtype, name })));

test.each(kinds)("weights in $dtype take the bytes that were announced: $name", async ({ dtype, name }) => {
  const { weights } = await loadGolden(name);
  const engine = resolveEngineConfig({ dtype }, weights.model.shape);
  const runner = await GpuRunner.create({ opened, weights, engine });
  expect(modelMemory(weights.model, engine).weightBytes).toBe(runner.weightBytes);
  runner.dispose();
});
