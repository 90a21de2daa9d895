// Where no layer sees further back than a window, the blocks before it serve others while the sequence goes on.

import { expect, test } from "vitest";

import { byteTokens, EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";

const params = samplingParams({ maxTokens: 60, ignoreEos: true });
const prompt = byteTokens("A prompt of thirty-two letters..");

test("a sequence keeps no more blocks than its window and its next rows take", async () => {
  const harness = new EngineHarness({ config: { slidingWindow: 8, maxNumBatchedTokens: 8 } });
  harness.add("one", prompt, { params });
  const used: number[] = [];
  while (harness.hasWork) {
    await harness.step();
    used.push(harness.steps.at(-1)?.kvBlocksUsed ?? 0);
  }
  expect(used.slice(0, 4)).toEqual([8, 6, 4, 2]); // a prompt gets all its blocks at once, and gives them back as it goes
  expect(Math.max(...used.slice(4))).toBe(3);
});

test("the map of the cache shows only the blocks that it has", async () => {
  const harness = new EngineHarness({ config: { slidingWindow: 8, numGpuBlocks: 32 } });
  harness.add("one", prompt, { params });
  for (let step = 0; step < 5; step++) await harness.step();
  const { owners, refCounts } = harness.engine.kvCacheMap();
  expect(owners.filter((owner) => owner === 0)).toHaveLength(refCounts.filter((count) => count > 0).length);
});

test("three of them run beside each other where only one would fit whole", async () => {
  const run = async (slidingWindow: number | null) => {
    const harness = new EngineHarness({ config: { slidingWindow, numGpuBlocks: 24 } });
    for (const name of ["a", "b", "c"]) harness.add(name, [...prompt.slice(0, 20), name.charCodeAt(0)], { params });
    await harness.runToEnd();
    return harness.engine.stats().num_preemptions_total;
  };
  expect(await run(8)).toBe(0);
  expect(await run(null)).toBeGreaterThan(0);
});
