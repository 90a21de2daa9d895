import { expect, it } from "vitest";
import { KV_BLOCK_STATES } from "../../protocol/reports.ts";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";

const CONFIG = { blockSize: 4, numGpuBlocks: 8, enablePrefixCaching: true };
const prompt = [1, 2, 3, 4, 5, 6, 7, 8, 9];
const params = samplingParams({ maxTokens: 4, ignoreEos: true });

function read(harness: EngineHarness) {
  const { sequences, owners, refCounts, filledTokens, states } = harness.engine.kvCacheMap();
  return [...states].flatMap((state, block) => {
    if (KV_BLOCK_STATES[state] === "free") return [];
    const owner = sequences[owners[block] ?? -1];
    const name = owner ? `${owner.requestId}/${owner.index}` : "nobody";
    return [`${block} ${KV_BLOCK_STATES[state]} ${name} x${refCounts[block]} ${filledTokens[block]}`];
  });
}

it("says of each block whose it is, how full, and how many share it", async () => {
  const harness = new EngineHarness({ config: CONFIG });
  harness.add("a", prompt, { params });
  await harness.step();
  expect(read(harness)).toEqual(["0 used a/0 x1 4", "1 used a/0 x1 4", "2 used a/0 x1 1"]);

  harness.add("b", prompt, { params });
  await harness.step();
  expect(read(harness)).toEqual(["0 used a/0 x2 4", "1 used a/0 x2 4", "2 used a/0 x1 2", "3 used b/0 x1 1"]);

  harness.engine.abort("a");
  expect(read(harness)).toEqual(["0 used b/0 x1 4", "1 used b/0 x1 4", "3 used b/0 x1 1"]);
  harness.engine.abort("b");
  expect(read(harness)).toEqual(["0 cached nobody x0 4", "1 cached nobody x0 4"]);
});

it("tells a block's tokens, whose they are, and where they stand; also of a block that is only cached", async () => {
  const harness = new EngineHarness({ config: CONFIG });
  harness.add("a", prompt, { params });
  await harness.step();
  const of = (block: number) => harness.engine.kvBlockTokens(block);
  const sequence = expect.objectContaining({ requestId: "a", index: 0 }) as unknown;
  expect(of(1)).toEqual({ tokenIds: [5, 6, 7, 8], sequence, start: 4 });
  expect(of(2)).toEqual({ tokenIds: [9], sequence, start: 8 });
  expect(of(7)).toEqual({ tokenIds: [], sequence: null, start: null });
  harness.engine.abort("a");
  expect(of(1)).toEqual({ tokenIds: [5, 6, 7, 8], sequence: null, start: null });
  expect(of(2)).toEqual({ tokenIds: [], sequence: null, start: null });
});
