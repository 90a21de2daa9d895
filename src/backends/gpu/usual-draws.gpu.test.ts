// Which kernels are wanted as soon as a model is loaded, by how its tokens are usually drawn.

import { afterEach, expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { openTestDevice } from "../../testing/gpu/gpu.ts";
import { loadGolden } from "../../testing/models/golden.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");

afterEach(() => void vi.restoreAllMocks());

it.each([
  [{ haveFilters: false, haveRules: false }, "raw_logprobs", { samples: 1, rules: 0 }],
  [{ haveFilters: true, haveRules: false }, "raw_logprobs", { samples: 2, rules: 0 }],
  [{ haveFilters: false, haveRules: true }, "raw_logprobs", { samples: 2, rules: 1 }],
  [{ haveFilters: false, haveRules: false }, "processed_logprobs", { samples: 2, rules: 0 }],
] as const)("draws %j with %s", async (draws, logprobsMode, { samples, rules }) => {
  const compiled = vi.spyOn(opened.device, "createComputePipelineAsync");
  const engine = resolveEngineConfig({ maxNumSeqs: 1, numGpuBlocks: 4, logprobsMode }, weights.model.shape);
  const runner = await GpuRunner.create({ opened, weights, engine, draws });
  const labels = compiled.mock.calls.map(([{ label }]) => label ?? "");
  runner.dispose();
  const count = (kernel: string) => labels.filter((label) => new RegExp(`^${kernel}\\b(?!-)`).test(label)).length;
  expect({ samples: count("sample"), rules: count("process-logits") }).toEqual({ samples, rules });
});
