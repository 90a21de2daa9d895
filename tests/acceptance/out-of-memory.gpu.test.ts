// A GPU without enough memory: a smaller cache where that helps, else a refusal, and nothing is left behind.

import { expect, it } from "vitest";

import { createEngine } from "../../src/index.ts";
import { withTamperedDevice } from "../gpu/one-device.ts";
import { limitMemory } from "../gpu/tampered-gpu.ts";

const TINY = {
  model: "/tests/fixtures/gpt2-tiny/",
  worker: false,
  backend: "webgpu",
  dtype: "f32",
  maxNumBatchedTokens: 16,
  kvCacheBytes: 2 ** 23,
} as const;

/** Loads with a cache of 8 MiB on a device with `limitBytes` of memory. */
async function loading(limitBytes: number) {
  const memories: ReturnType<typeof limitMemory>[] = [];
  const gpu = await withTamperedDevice("of limited memory", (device) => memories.push(limitMemory(device, limitBytes)));
  const details: (string | undefined)[] = [];
  const onProgress = ({ stage, detail }: { stage: string; detail?: string }) =>
    stage === "cache" && details.push(detail);
  const engine = createEngine({ ...TINY, gpu, onProgress: (progress) => void onProgress(progress) });
  // Each time that the device is requested, its memory is limited once more.
  return { engine, details, usedBytes: () => Math.max(0, ...memories.map(({ usedBytes }) => usedBytes())) };
}

it("takes a smaller cache where all of it has no room, says so, and gives everything back", async () => {
  // An adapter's first load checks its kernels, which takes memory, too.
  await (await (await loading(Infinity)).engine).dispose();
  const roomy = await loading(Infinity);
  const { numGpuBlocks } = (await roomy.engine).model;
  const needed = roomy.usedBytes();
  await (await roomy.engine).dispose();
  expect(roomy.usedBytes()).toBe(0);

  const tight = await loading(needed - 1);
  const engine = await tight.engine;
  expect(engine.model.numGpuBlocks).toBe(Math.floor(numGpuBlocks / 2));
  expect(tight.details).toEqual([`${engine.model.numGpuBlocks} blocks (no memory for ${numGpuBlocks})`]);
  expect(tight.usedBytes()).toBeLessThan(needed);
  const { choices } = await engine.completions.create({ prompt: [1, 2, 3], max_tokens: 4, ignore_eos: true });
  expect(choices).toHaveLength(1);
  await engine.dispose();
  expect(tight.usedBytes()).toBe(0);
});

it.each([1, 4, 10])("refuses a model that has no room, whatever the cache, without a byte left: %i", async (size) => {
  const { engine, usedBytes } = await loading(50_000 * size);
  await expect(engine).rejects.toMatchObject({
    code: "out_of_memory",
    message: expect.stringMatching(/[kM]B as f32, .* [kM]B as q4/) as string,
  });
  expect(usedBytes()).toBe(0);
});
