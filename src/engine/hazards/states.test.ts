// A state is that of one position. Whoever goes on from what the cache has must begin with the state after just those tokens:
// the fake runner throws at any other.
import { expect, test } from "vitest";
import { EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { BlockPool } from "../cache/block-pool.ts";
import { StatePool } from "../cache/state-pool.ts";

const STATES = { numStateSlots: 4, enablePrefixCaching: true };
const PROMPT = Array.from({ length: 22 }, (_, i) => i);
const params = samplingParams({ maxTokens: 12, temperature: 1, ignoreEos: true });

/** Answers a prompt alone. Returns its tokens, and how many of the prompt's were cached. */
async function answer(harness: EngineHarness, prompt: readonly number[], id = "one", request = { params }) {
  const { prefix_cache_hits: before } = harness.engine.stats();
  harness.add(id, prompt, request);
  await harness.runToEnd();
  return { tokenIds: harness.choice(id).tokenIds, cached: harness.engine.stats().prefix_cache_hits - before };
}

const drafts = { method: "draft_model", numTokens: 4 } as const;

test.each([
  { runAhead: 0 },
  { runAhead: 4 },
  { runAhead: 2, numStateSlots: 2 },
  { speculation: drafts, numStateSlots: 9 },
])("a chat's next turn goes on from the end of the answer: %j", async (config) => {
  const harness = new EngineHarness({ config: { ...STATES, ...config } });
  const { tokenIds } = await answer(harness, PROMPT, "turn 1");
  const next = await answer(harness, [...PROMPT, ...tokenIds, 7, 7], "turn 2");
  expect(next.cached).toBe(32); // of 33 tokens whose states were computed, in blocks of 4
});

test("the same prompt goes on from its own last full block, also if all its blocks are full", async () => {
  const harness = new EngineHarness({ config: STATES });
  for (const prompt of [PROMPT, PROMPT.slice(0, 20)]) {
    const first = await answer(harness, prompt, `first of ${prompt.length}`);
    const again = await answer(harness, prompt, `again ${prompt.length}`);
    expect(again).toEqual({ ...first, cached: 4 * Math.floor((prompt.length - 1) / 4) });
  }
});

test("where prompts part, the second one keeps the state that the third one goes on from", async () => {
  const harness = new EngineHarness({ config: { ...STATES, numStateSlots: 9 } });
  const cached: number[] = [];
  for (const last of [1, 2, 3]) {
    cached.push((await answer(harness, [...PROMPT, last, last, last, last, last], `${last}`)).cached);
  }
  expect(cached).toEqual([0, 0, 20]);
});

test("a later choice leaves the state of what several prompts begin with", async () => {
  const harness = new EngineHarness({ config: { ...STATES, numStateSlots: 12, runAhead: 2, maxNumBatchedTokens: 24 } });
  const system = PROMPT.slice(0, 20);
  const ask = (last: number) => [...system, ...Array.from({ length: 9 }, () => last)];
  for (const last of [1, 2]) await answer(harness, ask(last), `${last}`);
  harness.add("choices", ask(3), { params, n: 3 });
  await harness.runToEnd();
  expect((await answer(harness, ask(4), "4")).cached).toBe(20);
});

test("a prompt whose only state would be in the way of its own starts without it", async () => {
  const harness = new EngineHarness({ config: { ...STATES, numStateSlots: 2 } });
  const { tokenIds } = await answer(harness, PROMPT, "before");
  const next = [...PROMPT, ...tokenIds, 7];
  harness.add("long", [7, 7, 7], { params: samplingParams({ maxTokens: 60, ignoreEos: true }) });
  await harness.step();
  harness.add("next", next, { params });
  await harness.step();
  await harness.step();
  expect(harness.engine.stats().num_requests_running).toBe(2);
  await harness.runToEnd();
  expect(harness.choice("next").tokenIds).toEqual((await answer(new EngineHarness(), next)).tokenIds);
});

test("no more sequences are taken as running than there are states", async () => {
  const harness = new EngineHarness({ config: { ...STATES, maxQueueSize: 1 } });
  const add = (n: number) => harness.add(`${n}`, PROMPT, { params, n });
  expect(() => add(6)).toThrow("at most 5 can run and wait");
  add(5);
  await harness.runToEnd();
});

test("choices of a request begin with one computed prompt, without the prefix cache, too", async () => {
  const harness = new EngineHarness({ config: { ...STATES, enablePrefixCaching: false } });
  harness.add("one", PROMPT, { params, n: 3 });
  await harness.runToEnd();
  const rows = harness.steps.flatMap(({ entries }) => entries).filter(({ start }) => start < 20);
  expect(rows.map(({ start, rows: count }) => [start, count])).toEqual([[0, 22]]);
});

test("with two slots sequences run one by one, and states that nobody has used for longest make room", async () => {
  const harness = new EngineHarness({ config: { ...STATES, numStateSlots: 2 } });
  const prompts = [0, 1, 2].map((first) => [first, ...PROMPT]);
  const alone = await Promise.all(prompts.map((prompt) => answer(new EngineHarness(), prompt)));
  prompts.forEach((prompt, i) => harness.add(`${i}`, prompt, { params }));
  await harness.runToEnd();
  expect(prompts.map((_, i) => harness.choice(`${i}`).tokenIds)).toEqual(alone.map(({ tokenIds }) => tokenIds));
  const nextTurn = (i: number) => [...(prompts[i] ?? []), ...harness.choice(`${i}`).tokenIds, 5];
  expect((await answer(harness, nextTurn(2), "next of the last")).cached).toBe(32);
  expect((await answer(harness, nextTurn(0), "next of the first")).cached).toBe(0);
});

test("of wrong drafts the accepted ones are computed again, and no others", async () => {
  const harness = new EngineHarness({ config: { ...STATES, speculation: drafts } });
  const { tokenIds } = await answer(harness, PROMPT);
  expect(tokenIds).toEqual((await answer(new EngineHarness(), PROMPT)).tokenIds);
  const { spec_decode_num_draft_tokens_total: drafted, spec_decode_num_accepted_tokens_total: accepted } =
    harness.engine.stats();
  expect(accepted).toBeGreaterThan(0);
  expect(drafted).toBeGreaterThan(accepted);
  const entries = harness.steps.flatMap((step) => step.entries);
  const starts = entries.map(({ start }) => start);
  const ends = entries.map(({ start, rows }) => start + rows);
  expect(starts.slice(1).every((start, i) => start <= (ends[i] ?? 0))).toBe(true);
});

test("nobody shares accepted tokens before they are computed again", async () => {
  const config = { ...STATES, numStateSlots: 40, numGpuBlocks: 4096, maxNumBatchedTokens: 256 };
  for (const seed of [1, 2, 3, 4]) {
    const harness = new EngineHarness({ config: { ...config, speculation: drafts } });
    harness.add("first", PROMPT, { params: { ...params, maxTokens: 40, seed } });
    for (let step = 0; harness.choice("first").finishReason === null; step++) {
      await harness.step();
      const known = [...PROMPT, ...harness.choice("first").tokenIds];
      harness.add(`${step}`, [...known, 9], { params: samplingParams({ maxTokens: 1 }) });
    }
    await harness.runToEnd();
    expect(harness.engine.stats().prefix_cache_hits).toBeGreaterThan(100);
  }
});

test("a lost device's states are forgotten with its blocks", async () => {
  const harness = new EngineHarness({ config: STATES });
  await answer(harness, PROMPT, "before");
  harness.loseDevice({ isReported: true });
  await harness.restoreDevice();
  expect((await answer(harness, PROMPT, "after")).cached).toBe(0);
});

test("a block that holds other tokens has no state of those before", () => {
  const pool = new BlockPool(1, 4, 2);
  const blocks = pool.allocate(1) ?? [];
  pool.states.keep(0);
  pool.free(blocks);
  expect(pool.states.has(0)).toBe(true);
  pool.allocate(1);
  expect(pool.states.has(0)).toBe(false);
});

test("a step's slots serve nobody else in it", () => {
  const states = new StatePool(3);
  const own = states.take();
  const kept = states.keep(7);
  states.beginStep();
  expect(states.read(7)).toBe(kept);
  states.keep(8);
  states.drop(7);
  expect([states.hasRoom, states.take()]).toEqual([false, null]);
  states.beginStep();
  expect(states.take()).toBe(kept);
  states.assertConsistent([own ?? -1, kept ?? -1]);
});

test("more beams than there are states are refused", async () => {
  const harness = new EngineHarness({ config: STATES });
  const search = (numBeams: number) => ({ numBeams, lengthPenalty: 1, earlyStopping: false }) as const;
  const beams = (numBeams: number) => ({ params: samplingParams(), beamSearch: search(numBeams), n: 1 });
  expect(() => harness.add("four", PROMPT, beams(4))).toThrow("states of 4 sequences");
  harness.add("three", PROMPT, beams(3));
  await harness.runToEnd();
  const alone = new EngineHarness();
  alone.add("three", PROMPT, beams(3));
  await alone.runToEnd();
  expect(harness.choice("three")).toEqual(alone.choice("three"));
});
