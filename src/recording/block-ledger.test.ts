import { expect, it } from "vitest";

import { KV_BLOCK_STATES, type KvCacheMap } from "../protocol/reports.ts";
import { seededRandom } from "../../lab/seeded-random.ts";
import { EngineHarness, samplingParams } from "../../tests/fakes/engine-harness.ts";
import { BlockLedger } from "./block-ledger.ts";

/** Each block that is not free: its state, owner, share count and fill. */
function read({ states, owners, refCounts, filledTokens, sequences }: KvCacheMap): string[] {
  return [...states].flatMap((state, block) => {
    const name = KV_BLOCK_STATES[state];
    if (name === "free") return [];
    const owner = sequences[owners[block] ?? -1];
    return [
      `${block} ${name} ${owner?.requestId ?? "-"}/${owner?.index ?? "-"} x${refCounts[block]} ${filledTokens[block]}`,
    ];
  });
}

it.each([
  ["with a prefix cache", { enablePrefixCaching: true, numGpuBlocks: 40 }],
  ["without one", { enablePrefixCaching: false, numGpuBlocks: 40 }],
  ["in a pool so small that it preempts", { enablePrefixCaching: false, numGpuBlocks: 12 }],
  ["with a sliding window", { enablePrefixCaching: false, numGpuBlocks: 40, slidingWindow: 6 }],
])("the reports tell after each step what the engine's own map is, %s", async (_what, config) => {
  const harness = new EngineHarness({ config: { blockSize: 4, maxNumSeqs: 4, ...config } });
  const ledger = new BlockLedger({ blockSize: 4, ...config }, config.enablePrefixCaching);
  const random = seededRandom(3);
  let [seenSteps, seenRequests, numUsed] = [0, 0, 0];
  const take = () => {
    for (const report of harness.steps.slice(seenSteps)) ledger.addStep(report);
    for (const report of harness.requests.slice(seenRequests)) ledger.addRequest(report);
    [seenSteps, seenRequests] = [harness.steps.length, harness.requests.length];
  };
  for (let turn = 0; turn < 120; turn++) {
    if (turn % 4 === 0 && turn < 80) {
      // Two blocks that all have, and no others: of blocks with the same tokens the engine keeps one.
      const prompt = [1, 2, 3, 4, 5, 6, 7, 8, 40 + turn];
      const params = samplingParams({ maxTokens: 4 + Math.floor(random() * 16), ignoreEos: true, seed: turn });
      harness.add(`r${turn}`, prompt, { params });
    }
    if (turn % 13 === 5) harness.engine.abort(`r${turn - 5}`);
    take();
    // oxlint-disable-next-line no-await-in-loop -- steps follow one another
    await harness.step();
    take();
    const own = read(harness.engine.kvCacheMap());
    expect(read(ledger.map()).map((line) => line.replace(/ \S+\/\S+ /, " "))).toEqual(
      own.map((line) => line.replace(/ \S+\/\S+ /, " ")),
    );
    numUsed += own.length;
  }
  expect(numUsed).toBeGreaterThan(200);
});

it("tells who uses a block, and when it is free again", async () => {
  const harness = new EngineHarness({ config: { blockSize: 4, numGpuBlocks: 8, enablePrefixCaching: true } });
  const said: string[] = [];
  const ledger = new BlockLedger({ blockSize: 4, numGpuBlocks: 8 }, true, {
    used: (block, { requestId }) => void said.push(`${requestId} has ${block}`),
    freed: (block) => void said.push(`${block} is free`),
  });
  harness.add("a", [1, 2, 3, 4, 5], { params: samplingParams({ maxTokens: 2, ignoreEos: true }) });
  await harness.runToEnd();
  for (const report of harness.steps) ledger.addStep(report);
  expect(said).toEqual(["a has 0", "a has 1", "0 is free", "1 is free"]);
});

it("a recording can't name more blocks than can be drawn, nor blocks that aren't there", () => {
  const ledger = new BlockLedger({ numGpuBlocks: 1e15, blockSize: 16 }, true);
  expect(ledger.map().states.length).toBe(2 ** 20);
  const none = new BlockLedger({ numGpuBlocks: -1, blockSize: 16 }, true);
  expect(none.map().states.length).toBe(0);
});
