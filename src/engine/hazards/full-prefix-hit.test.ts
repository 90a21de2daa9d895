// A prompt that is in the cache as a whole leaves nothing to compute, and so nothing to sample from: engines have died of
// a query of length 0, or sampled from the wrong row. And blocks have been found before they were written.
import { describe, expect, it } from "vitest";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";

const prompt = (length: number) => Array.from({ length }, (_, i) => (i * 7) % 250);

function harnessWith(config: ConstructorParameters<typeof EngineHarness>[0] = {}): EngineHarness {
  return new EngineHarness({ ...config, config: { blockSize: 16, enablePrefixCaching: true, ...config.config } });
}

describe.each([15, 16, 17, 31, 32, 33])("a prompt of %i tokens", (length) => {
  it("gives the same tokens the second time, and computes only what is not in full blocks, or the last token", async () => {
    const harness = harnessWith();
    const alone = new EngineHarness();
    for (const engine of [harness, alone]) {
      engine.add("first", prompt(length));
      await engine.runToEnd();
      engine.add("second", prompt(length));
      await engine.runToEnd();
    }
    expect(harness.choice("second").tokenIds).toEqual(alone.choice("first").tokenIds);
    expect(harness.choice("first").tokenIds).toEqual(alone.choice("first").tokenIds);

    const cached = 16 * Math.floor((length - 1) / 16);
    const second = harness.steps.flatMap(({ entries }) => entries).find(({ requestId }) => requestId === "second");
    expect(second).toMatchObject({ start: cached, rows: length - cached, cachedTokens: cached });
    expect(harness.engine.stats()).toMatchObject({ prefix_cache_queries: 2 * length, prefix_cache_hits: cached });
    expect(harness.requests.at(-1)).toMatchObject({ requestId: "second", cachedTokens: cached });
  });
});

it("a conversation's next turn computes only what is new", async () => {
  const harness = harnessWith();
  harness.add("first", prompt(40));
  await harness.runToEnd();
  const turn = [...prompt(40), ...harness.choice("first").tokenIds, 1, 2, 3];
  harness.add("second", turn);
  await harness.runToEnd();
  // 40 prompt tokens and the 7 of 8 outputs whose keys were computed fill two blocks and most of a third.
  expect(harness.engine.stats().prefix_cache_hits).toBe(32);
  const alone = new EngineHarness();
  alone.add("second", turn);
  await alone.runToEnd();
  expect(harness.choice("second")).toEqual(alone.choice("second"));
});

it("nobody finds a block before the step that writes it is over", async () => {
  const harness = harnessWith({ config: { maxNumBatchedTokens: 64, runAhead: 4 } });
  harness.add("first", prompt(33));
  await harness.step(); // submitted, and not taken in yet
  harness.add("second", prompt(33));
  await harness.runToEnd();
  expect(harness.engine.stats().prefix_cache_hits).toBe(0);
  expect(harness.choice("second")).toEqual(harness.choice("first"));
});

it("what a request computed for nothing is never found", async () => {
  // The text ends with a token that is known only while the next steps are in flight; they write beyond the end.
  const script = { params: samplingParams({ maxTokens: 60, stopTokenIds: Array.from({ length: 40 }, (_, i) => i) }) };
  for (let length = 1; length <= 40; length++) {
    const harness = harnessWith({ config: { runAhead: 4 } });
    harness.add("first", prompt(length), script);
    await harness.runToEnd();
    const tokens = [...prompt(length), ...harness.choice("first").tokenIds];
    const again = [...tokens, ...tokens].slice(0, 60);
    const alone = new EngineHarness();
    for (const engine of [harness, alone]) {
      engine.add("again", again);
      await engine.runToEnd();
    }
    expect(harness.choice("again")).toEqual(alone.choice("again"));
  }
});

it("a preempted sequence finds what it had, and that is no hit of a request", async () => {
  const harness = harnessWith({ config: { blockSize: 4, numGpuBlocks: 12, maxNumSeqs: 2 } });
  const params = samplingParams({ maxTokens: 24, ignoreEos: true });
  harness.add("a", prompt(10), { params });
  harness.add("b", prompt(11).toReversed(), { params });
  await harness.runToEnd();
  const stats = harness.engine.stats();
  expect(stats.num_preemptions_total).toBeGreaterThan(0);
  expect(stats.prefix_cache_queries).toBe(21);
  expect(stats.prefix_cache_hits).toBe(0);
  const resumed = harness.steps.flatMap(({ entries }) => entries).filter(({ cachedTokens }) => cachedTokens > 0);
  expect(resumed.map(({ requestId }) => requestId)).toContain("b");
});
