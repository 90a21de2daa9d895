// The config changes between two steps. That no token changes then is a property of engine.property.test.ts.
import { describe, expect, it } from "vitest";
import { EngineHarness, samplingParams, scriptedRunner } from "../../../tests/fakes/engine-harness.ts";

const tokens = (maxTokens: number) => ({ params: samplingParams({ maxTokens, ignoreEos: true }) });
const ids = (harness: EngineHarness) => harness.steps.at(-1)?.entries.map(({ requestId }) => requestId);
const prompt = (length: number, first = 1) => Array.from({ length }, (_, i) => first + (i % 7));

describe("fewer sequences at once", () => {
  it("make the last ones wait, and more let them go on where they were", async () => {
    const [harness, alone] = [new EngineHarness(), new EngineHarness()];
    for (const each of [harness, alone]) for (const id of ["a", "b", "c"]) each.add(id, [id.charCodeAt(0)], tokens(9));
    await harness.step();
    harness.update({ maxNumSeqs: 2 });
    await harness.step();
    expect(ids(harness)).toEqual(["a", "b"]);
    expect(harness.engine.stats()).toMatchObject({ max_num_seqs: 2, slot_usage_perc: 1, num_requests_waiting: 1 });
    harness.update({ maxNumSeqs: 3 });
    await harness.step();
    expect(ids(harness)).toEqual(["a", "b", "c"]);
    await Promise.all([harness.runToEnd(), alone.runToEnd()]);
    expect(harness.choices).toEqual(alone.choices);
  });

  it("than a search has beams: it goes on by itself, and a new one of that size is refused", async () => {
    const harness = new EngineHarness({ config: { maxNumSeqs: 5 } });
    const beamSearch = { numBeams: 4, lengthPenalty: 1, earlyStopping: false } as const;
    harness.add("search", prompt(3), { ...tokens(12), beamSearch });
    harness.add("other", prompt(3), tokens(4));
    for (let i = 0; i < 3; i++) await harness.step();
    harness.update({ maxNumSeqs: 2 });
    expect(() => harness.add("next", prompt(3), { ...tokens(4), beamSearch })).toThrow("4 beams are more than the 2");
    await harness.step();
    expect(new Set(ids(harness))).toEqual(new Set(["search"]));
    await harness.runToEnd();
    expect(harness.choice("other").tokenIds).toHaveLength(4);
  });
});

it("a smaller token budget counts from the next step on", async () => {
  const harness = new EngineHarness({ config: { maxNumBatchedTokens: 32 } });
  harness.add("long", prompt(60), tokens(2));
  await harness.step();
  harness.update({ maxNumBatchedTokens: 8 });
  await harness.runToEnd();
  expect(harness.steps.map(({ rows }) => rows)).toEqual([32, 8, 8, 8, 4, 1]);
});

it("another policy ranks who waits already, and who runs", async () => {
  const harness = new EngineHarness({ config: { maxNumSeqs: 1 } });
  for (const [id, priority] of [
    ["first", 0],
    ["late", 5],
    ["urgent", -5],
  ] as const) {
    harness.add(id, [1], { ...tokens(2), priority });
  }
  await harness.step();
  harness.update({ schedulingPolicy: "priority" });
  await harness.runToEnd();
  const order = [...new Set(harness.steps.flatMap(({ entries }) => entries.map(({ requestId }) => requestId)))];
  expect(order).toEqual(["first", "urgent", "late"]);
});

it("drafts that are in a step when drafting ends are settled", async () => {
  const speculation = { method: "ngram", numTokens: 3, minMatch: 1 } as const;
  const script = Array.from({ length: 12 }, (_, i) => 1 + (i % 2));
  const harness = new EngineHarness({ config: { speculation }, runner: scriptedRunner(script) });
  harness.add("a", [1, 2, 1, 2], tokens(12));
  await harness.step();
  const drafting = harness.step(); // a step with drafts is under way
  harness.update({ speculation: null });
  await drafting;
  expect(harness.engine.stats().spec_decode_num_draft_tokens_total).toBe(2);
  await harness.runToEnd();
  expect(harness.choice("a").tokenIds).toEqual(script);
  expect(harness.engine.stats().spec_decode_num_draft_tokens_total).toBe(2);
});

describe("the prefix cache", () => {
  it("finds what was computed since it is on, and nothing while it is off", async () => {
    const harness = new EngineHarness();
    const ask = async (id: string) => {
      harness.add(id, prompt(17), tokens(2));
      await harness.runToEnd();
      return harness.engine.stats().prefix_cache_hits;
    };
    expect(await ask("a")).toBe(0);
    harness.update({ enablePrefixCaching: true });
    expect([await ask("b"), await ask("c")]).toEqual([0, 16]);
    harness.update({ enablePrefixCaching: false });
    expect(await ask("d")).toBe(16);
  });

  it("publishes no block that a sequence gave back while it was off", async () => {
    const harness = new EngineHarness({ config: { slidingWindow: 4, numGpuBlocks: 12 } });
    const alone = new EngineHarness({ config: { slidingWindow: 4 } });
    harness.add("a", prompt(20), tokens(16));
    for (let i = 0; i < 4; i++) await harness.step();
    harness.add("b", prompt(20, 40), tokens(4));
    await harness.step();
    harness.update({ enablePrefixCaching: true });
    for (let i = 0; i < 2; i++) await harness.step();
    harness.add("c", prompt(20), tokens(4));
    await harness.runToEnd();
    for (const [id, first, count] of [
      ["a", 1, 16],
      ["b", 40, 4],
      ["c", 1, 4],
    ] as const) {
      alone.add(id, prompt(20, first), tokens(count));
      await alone.runToEnd();
    }
    expect(harness.choices).toEqual(alone.choices);
  });
});
