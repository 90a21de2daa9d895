import { expect, test } from "vitest";
import { resolveEngineConfig } from "../../api/engine-config.ts";
import { greedyTokens } from "../../../tests/gpu/runner-runs.ts";
import { GREEDY, loadGolden } from "../../../tests/models/golden.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import type { CheckDraws } from "../backend.ts";
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

test("a check of draws that goes on after its runner is disposed of uses no buffer", async () => {
  const { weights } = await loadGolden("gpt2-tiny");
  const engine = resolveEngineConfig({}, weights.model.shape);
  let [begin, goOn] = [(): void => {}, (): void => {}];
  const begun = new Promise<void>((resolve) => (begin = resolve));
  const disposed = new Promise<void>((resolve) => (goOn = resolve));
  let outcome: Promise<unknown> | undefined;
  const checkDraws: CheckDraws = async (checked) => {
    begin();
    await disposed;
    outcome = greedyTokens(checked, [1], 1).catch((error: unknown) => error);
    await outcome;
    return true;
  };
  const runner = await GpuRunner.create({ opened, weights, engine, checkDraws });
  void runner.missing({ kind: "draw", params: { ...GREEDY, temperature: 1, topK: 2 }, isProcessed: false, numTop: 0 });
  await begun;
  runner.dispose();
  goOn();
  await expect.poll(() => outcome).toBeDefined();
  // The device reports what else happens: see openTestDevice.
  expect(await outcome).toMatchObject({ code: "engine_disposed" });
});
