// A kernel of the first step with which the device is lost, or gets stuck: the next load finds it, and the one after does without.

import { afterEach, expect, it, vi } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import { greedyTokens } from "../../../tests/gpu/runner-runs.ts";
import { compileAfter } from "../../../tests/gpu/tampered-gpu.ts";
import { openTestDevice } from "../../../tests/gpu/gpu.ts";
import { openDecoderFixture } from "../../../tests/models/decoder-fixtures.ts";
import { loadGolden } from "../../../tests/models/golden.ts";
import { causeOf } from "../backend-failure.ts";
import { Trials } from "../trials.ts";
import { openDevice } from "./device.ts";
import { flushesHalves } from "./flushed-halves.ts";
import { GpuRunner } from "./gpu-runner.ts";

const { weights, prompts } = await loadGolden("gpt2-tiny");
const [prompt = expect.fail("no prompt")] = prompts;
const sizes = { maxNumSeqs: 2, maxNumBatchedTokens: 64, numGpuBlocks: 64, dtype: "f32", kvCacheDtype: "f32" } as const;
const engine = resolveEngineConfig(sizes, weights.model.shape);
const numTokens = prompt.greedy.tokens.length;

const opened = await openTestDevice();

afterEach(() => void vi.restoreAllMocks());

type SetPipeline = (this: GPUComputePassEncoder, pipeline: GPUComputePipeline) => undefined;

const never = () => new Promise<never>(() => undefined);

/** Loads on a device of its own, which a kernel takes away or holds up, and answers. Resolves to the tokens, or to what happened. */
async function runOnce(
  trials: Trials,
  bad: string,
  how: "lost" | "stuck" | "compiling",
  config = engine,
): Promise<unknown> {
  const own = await openDevice(navigator.gpu);
  const isBad = (label: string) => label.startsWith(`${bad} `);
  let fail = (): void => {};
  const stuck = new Promise<string>((resolve) => (fail = () => resolve(how)));
  const prototype: { setPipeline: SetPipeline } = GPUComputePassEncoder.prototype;
  const { setPipeline } = prototype;
  const set: SetPipeline = function (pipeline) {
    setPipeline.call(this, pipeline);
    if (!isBad(pipeline.label)) return;
    if (how === "lost") return own.device.destroy();
    vi.spyOn(GPUBuffer.prototype, "mapAsync").mockImplementation(never);
    fail();
  };
  vi.spyOn(prototype, "setPipeline").mockImplementation(set);
  compileAfter(own.device, (label) => {
    if (!isBad(label) || how !== "compiling") return undefined;
    fail();
    return never();
  });
  const options = { opened: own, weights, engine: config, trials, isFlushing: flushesHalves(own, trials) };
  const running = GpuRunner.create(options).then((runner) => greedyTokens(runner, prompt.ids, numTokens));
  const result = await Promise.race([running.catch(async (error: unknown) => (await causeOf(own, error)).code), stuck]);
  vi.restoreAllMocks();
  own.device.destroy();
  return result;
}

it.each([
  ["lost", "device_lost"],
  ["stuck", "stuck"],
  ["compiling", "compiling"],
] as const)("a product begins with another kernel (%s)", async (how, outcome) => {
  const first = new Trials();
  expect(await runOnce(first, "matmul-any", how)).toBe(outcome);
  const careful = first.afterLoss();
  expect(await runOnce(careful, "matmul-any", how)).toBe(outcome);
  const next = careful.afterLoss();
  expect(next.isCareful).toBe(false);
  expect(await runOnce(next, "matmul-any", how)).toEqual(prompt.greedy.tokens);
});

it("subnormal halves are taken to be flushed where the kernel that asks loses the device", async () => {
  const careful = new Trials().afterLoss();
  expect(await runOnce(careful, "probe-halves", "lost")).toBe("device_lost");
  expect(await runOnce(careful.afterLoss(), "probe-halves", "lost")).toEqual(prompt.greedy.tokens);
});

it.each(["lost", "stuck"] as const)("what packs weights is found, too (%s)", async (how) => {
  const careful = new Trials().afterLoss();
  const inHalves = { ...engine, dtype: "f16" } as const;
  expect(await runOnce(careful, "pack-weights", how, inHalves)).toBe(how === "lost" ? "device_lost" : how);
  expect(await runOnce(careful.afterLoss(), "pack-weights", how, inHalves)).toBe("kernel_refused");
});

it("where no other kernel can take its place, the load is refused: plainer ones run, or another backend", async () => {
  const careful = new Trials().afterLoss();
  expect(await runOnce(careful, "embed", "lost")).toBe("device_lost");
  expect(await runOnce(careful.afterLoss(), "embed", "lost")).toBe("kernel_refused");
});

it.each(["qwen35", "lfm2"] as const)(
  "a careful load in which nothing happens leaves nothing behind: %s",
  async (name) => {
    const read = async (path: string) => (await fetch(`/tests/fixtures/${path}`)).arrayBuffer();
    const fixture = await openDecoderFixture(name, async (path) => new Uint8Array(await read(path)));
    const [{ ids, greedy } = expect.fail("no case")] = fixture.cases;
    const trials = new Trials().afterLoss();
    const sized = resolveEngineConfig(sizes, fixture.weights.model.shape);
    const runner = await GpuRunner.create({ opened, weights: fixture.weights, engine: sized, trials });
    expect(await greedyTokens(runner, ids, greedy.length)).toEqual(greedy);
    runner.dispose();
  },
);
