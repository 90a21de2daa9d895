import { expect, test } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { loadGolden } from "../../testing/golden.ts";
import { openTestDevice } from "../../testing/gpu.ts";
import { gpt2Memory } from "./gpt2-memory.ts";
import { Gpt2Runner } from "./gpt2-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");

test.each(["f32", "f16", "q8", "q4"] as const)("what is said of weights in %s is what they take", async (dtype) => {
  const engine = resolveEngineConfig({ dtype }, weights.config);
  const runner = await Gpt2Runner.create({ opened, weights, engine });
  expect(gpt2Memory(weights.config, engine).weightBytes).toBe(runner.weightBytes);
  runner.dispose();
});
