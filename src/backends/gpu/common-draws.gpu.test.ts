// Which kernels are wanted as soon as a model is loaded, by how its tokens are usually drawn.

import { afterEach, expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import type { CommonDraws } from "../backend.ts";
import { GpuRunner } from "./gpu-runner.ts";

const opened = await openTestDevice();
const { weights } = await loadGolden("gpt2-tiny");

const isLarge = (label: string) => /^(sample|process-logits)\b(?!-)/.test(label);

afterEach(() => void vi.restoreAllMocks());

/** Makes a runner, and returns the labels that it compiled and what still compiled when the sampler's larger kernels began. */
async function compiledFor(
  { isSoftware }: { isSoftware: boolean },
  draws: CommonDraws,
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
    // Only what packs weights runs here: compiling the others would take seconds.
    const isRun = label.startsWith("pack-weights");
    const pipeline = isRun
      ? await compile(descriptor)
      : await new Promise((resolve) => setTimeout(() => resolve({}), 0));
    missing.delete(label);
    return pipeline as GPUComputePipeline;
  });
  const engine = resolveEngineConfig({ maxNumSeqs: 1, numGpuBlocks: 4, logprobsMode }, weights.model.shape);
  const runner = await GpuRunner.create({ opened: { ...opened, isSoftware }, weights, engine, draws });
  runner.dispose();
  return { labels, heldUp };
}

const USUAL = [
  [{ haveFilters: false, haveRules: false }, "raw_logprobs", { samples: 0, rules: 0 }],
  [{ haveFilters: true, haveRules: false }, "raw_logprobs", { samples: 1, rules: 0 }],
  [{ haveFilters: false, haveRules: true }, "raw_logprobs", { samples: 1, rules: 1 }],
  [{ haveFilters: false, haveRules: false }, "processed_logprobs", { samples: 1, rules: 0 }],
] as const;

it.each(USUAL)("on a GPU the kernels of draws %j with %s compile beside all others", async (draws, mode, expected) => {
  const { labels, heldUp } = await compiledFor({ isSoftware: false }, draws, mode);
  const count = (kernel: string) => labels.filter((label) => new RegExp(`^${kernel}\\b(?!-)`).test(label)).length;
  const { samples, rules } = expected;
  expect({ samples: count("sample"), rules: count("process-logits") }).toEqual(expected);
  // They wait for none.
  expect(heldUp.filter((label) => label.startsWith("sample-plain"))).toHaveLength(samples + rules);
});

it.each(USUAL)("a software adapter compiles them once a request waits: %j with %s", async (draws, mode) => {
  const { labels } = await compiledFor({ isSoftware: true }, draws, mode);
  expect(labels.filter((label) => label.startsWith("sample-plain"))).toHaveLength(1);
  expect(labels.filter(isLarge)).toEqual([]);
});
