// Which kernels are wanted as soon as a model is loaded, by how its tokens are usually drawn.

import { afterEach, expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { openTestDevice } from "../../testing/gpu/gpu.ts";
import { loadGolden } from "../../testing/models/golden.ts";
import type { UsualDraws } from "../backend.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");

const isLarge = (label: string) => /^(sample|process-logits)\b(?!-)/.test(label);

afterEach(() => void vi.restoreAllMocks());

/** Makes a runner, and returns the labels that it compiled and what still compiled when the sampler's larger kernels began. */
async function compiledFor(
  { isSoftware }: { isSoftware: boolean },
  draws: UsualDraws,
  logprobsMode: "raw_logprobs" | "processed_logprobs" = "raw_logprobs",
) {
  const compile = opened.device.createComputePipelineAsync.bind(opened.device);
  const labels: string[] = [];
  const missing = new Set<string>();
  // Without packing weights, which goes on beside all that.
  const heldUp: string[] = [];
  vi.spyOn(opened.device, "createComputePipelineAsync").mockImplementation(async (descriptor) => {
    const { label = "" } = descriptor;
    labels.push(label);
    if (isLarge(label)) heldUp.push(...missing);
    else if (!label.startsWith("pack-weights")) missing.add(label);
    const pipeline = await compile(descriptor);
    missing.delete(label);
    return pipeline;
  });
  const engine = resolveEngineConfig({ maxNumSeqs: 1, numGpuBlocks: 4, logprobsMode }, weights.model.shape);
  const runner = await GpuRunner.create({ opened: { ...opened, isSoftware }, weights, engine, draws });
  runner.dispose();
  return { labels, heldUp };
}

it.each([
  [{ haveFilters: false, haveRules: false }, "raw_logprobs", { samples: 0, rules: 0 }],
  [{ haveFilters: true, haveRules: false }, "raw_logprobs", { samples: 1, rules: 0 }],
  [{ haveFilters: false, haveRules: true }, "raw_logprobs", { samples: 1, rules: 1 }],
  [{ haveFilters: false, haveRules: false }, "processed_logprobs", { samples: 1, rules: 0 }],
] as const)("draws %j with %s", async (draws, logprobsMode, { samples, rules }) => {
  const { labels, heldUp } = await compiledFor({ isSoftware: true }, draws, logprobsMode);
  const count = (kernel: string) => labels.filter((label) => new RegExp(`^${kernel}\\b(?!-)`).test(label)).length;
  expect(count("sample-plain")).toBe(1);
  // A software adapter compiles one after the other: what the first step needs comes first.
  expect(heldUp).toEqual([]);
  expect({ samples: count("sample"), rules: count("process-logits") }).toEqual({ samples, rules });
});

it("on a GPU the kernels of usual draws compile beside all others, and wait for none", async () => {
  const { labels, heldUp } = await compiledFor({ isSoftware: false }, { haveFilters: true, haveRules: true });
  expect(labels.filter(isLarge)).toHaveLength(2);
  expect(heldUp.filter((label) => label.startsWith("sample-plain"))).toHaveLength(2);
});
