// A sequence with a grammar waits for its mask; nobody else does.

import { expect, test } from "vitest";

import {
  BYTE_VOCABULARY,
  byteTokens,
  EngineHarness,
  EOS,
  samplingParams,
  samplingRunner,
} from "../../../tests/fakes/engine-harness.ts";
import { grammarCompiler } from "../../../tests/requests/grammars.ts";
import type { EngineRequest } from "../engine-request.ts";
import type { SamplingParams } from "../sampling/sampling-params.ts";

const compiler = grammarCompiler(BYTE_VOCABULARY);
const prompt = byteTokens("What?");

/** A request's fields for several choices that match a regular expression. */
async function matching(
  regex: string,
  changes: Partial<SamplingParams> = {},
  n = 1,
): Promise<Partial<EngineRequest> & { matchers: Awaited<ReturnType<typeof compiler.matchers>> }> {
  const ends = [EOS, ...(changes.stopTokenIds ?? [])];
  const matchers = await compiler.matchers({ kind: "regex", pattern: regex, param: "regex" }, ends, n);
  return { n, matchers, params: samplingParams({ maxTokens: 40, temperature: 1, ...changes }) };
}

const free = (seed: number) => ({ params: samplingParams({ maxTokens: 30, temperature: 1, seed, ignoreEos: true }) });

test("answers match whatever the run-ahead, and free ones are what they are alone", async () => {
  const runs = [];
  for (const runAhead of [0, 1, 3]) {
    const harness = new EngineHarness({ config: { runAhead } });
    harness.add("free", prompt, free(1));
    harness.add("number", prompt, await matching("-?[1-9][0-9]{2,5}"));
    harness.add("three", prompt, await matching("[ab]{3}c?", {}, 3));
    await harness.runToEnd();
    const alone = new EngineHarness({ config: { runAhead } });
    alone.add("free", prompt, free(1));
    await alone.runToEnd();
    expect(harness.choice("free")).toEqual(alone.choice("free"));
    expect(harness.choice("number").text).toMatch(/^-?[1-9][0-9]{2,5}$/);
    for (const index of [0, 1, 2]) expect(harness.choice("three", index).text).toMatch(/^[ab]{3}c?$/);
    for (const choice of harness.choices.values()) expect(choice.finishReason).not.toBe("abort");
    runs.push([...harness.choices]);
  }
  expect(runs[1]).toEqual(runs[0]);
  expect(runs[2]).toEqual(runs[0]);
});

test("a free sequence runs ahead while one with a grammar waits", async () => {
  const harness = new EngineHarness({ config: { runAhead: 2 } });
  harness.add("free", prompt, free(1));
  harness.add("bound", prompt, await matching("[a-z]{20}"));
  await harness.runToEnd();
  const stepsOf = (id: string) => harness.steps.filter(({ entries }) => entries.some((one) => one.requestId === id));
  // It gets a token in every third step, the others' are free's alone.
  expect(stepsOf("free").length).toBe(30);
  expect(stepsOf("free").filter((step) => stepsOf("bound").includes(step)).length).toBeLessThan(15);
});

test("a preempted sequence goes on where its grammar was", async () => {
  const roomy = new EngineHarness();
  const tight = new EngineHarness({ config: { numGpuBlocks: 14, runAhead: 2 } });
  for (const harness of [roomy, tight]) {
    for (const seed of [1, 2, 3, 4]) harness.add(`${seed}`, prompt, await matching("([a-z]{4} ){5}end", { seed }));
    await harness.runToEnd();
  }
  expect(tight.engine.stats().num_preemptions_total).toBeGreaterThan(0);
  expect([...tight.choices].sort()).toEqual([...roomy.choices].sort());
  for (const { text, finishReason } of tight.choices.values()) {
    expect(text).toMatch(/^([a-z]{4} ){5}end$/);
    expect(finishReason).toBe("stop");
  }
});

test("nothing is drafted for it, and others' drafts do it no harm", async () => {
  const harness = new EngineHarness({ config: { speculation: { method: "ngram", numTokens: 4, minMatch: 1 } } });
  harness.add("bound", prompt, await matching("(ab){10}"));
  await harness.runToEnd();
  expect(harness.choice("bound").text).toBe("ab".repeat(10));
  expect(harness.engine.stats().spec_decode_num_draft_tokens_total).toBe(0);
});

test("it ends by length where it is not complete by then", async () => {
  const harness = new EngineHarness();
  harness.add("cut", prompt, await matching("[a-z]{10}", { maxTokens: 4 }));
  harness.add("full", prompt, await matching("[a-z]{4}", { maxTokens: 5 }));
  await harness.runToEnd();
  expect(harness.choice("cut")).toMatchObject({ finishReason: "length", text: expect.stringMatching(/^[a-z]{4}$/) });
  expect(harness.choice("full")).toMatchObject({ finishReason: "stop", stopReason: null });
});

test("ignore_eos and min_tokens put the end off, but not for ever", async () => {
  const harness = new EngineHarness();
  harness.add("least", prompt, await matching("[a-z]{1,9}", { minTokens: 7 }));
  harness.add("short", prompt, await matching("[a-z]{2}", { minTokens: 7 }));
  harness.add("ignore", prompt, await matching("[a-z]{1,9}", { ignoreEos: true }));
  await harness.runToEnd();
  expect(harness.choice("least").text.length).toBeGreaterThanOrEqual(7);
  expect(harness.choice("short")).toMatchObject({ finishReason: "stop", text: expect.stringMatching(/^[a-z]{2}$/) });
  expect(harness.choice("ignore")).toMatchObject({ finishReason: "stop", text: expect.stringMatching(/^[a-z]{9}$/) });
});

test("a stop token comes where the text is complete only, a stop string anywhere", async () => {
  const [b] = byteTokens("b");
  const harness = new EngineHarness();
  harness.add("token", prompt, await matching("([ab]x){4}", { stopTokenIds: [b!] }));
  harness.add("string", prompt, await matching("(ab){4}", { stop: ["ba"] }));
  await harness.runToEnd();
  expect(harness.choice("token").text).toBe("axaxaxax");
  expect(harness.choice("string")).toMatchObject({ text: "a", finishReason: "stop", stopReason: "ba" });
});

test("where other rules leave nothing of what its grammar allows, it alone is aborted", async () => {
  const harness = new EngineHarness({
    runner: samplingRunner(() => ({ tokenId: 0, logprob: -1 })),
  });
  harness.add("bound", prompt, await matching("[a-z]{3}"));
  harness.add("free", prompt, free(1));
  await harness.runToEnd();
  expect(harness.choice("bound")).toMatchObject({
    text: "",
    tokenIds: [],
    finishReason: "abort",
    stopReason: "no_token_left",
  });
  expect(harness.choice("free").finishReason).toBe("length");
});

test("matchers are given back when their sequences end, however they do", async () => {
  const harness = new EngineHarness({ config: { maxNumSeqs: 1 } });
  const requests = await Promise.all(["done", "aborted", "waiting"].map(() => matching("[a-z]{3}")));
  const disposed = requests.map(() => 0);
  requests.forEach(({ matchers: [matcher] }, i) => {
    const original = matcher!.dispose.bind(matcher);
    matcher!.dispose = () => {
      disposed[i]! += 1;
      original();
    };
  });
  harness.add("done", prompt, requests[0]);
  await harness.runToEnd();
  harness.add("aborted", prompt, requests[1]);
  harness.add("waiting", prompt, requests[2]);
  await harness.step();
  harness.engine.abort("aborted");
  harness.engine.abort("waiting");
  expect(disposed.every((times) => times > 0)).toBe(true);
});

/** Holds back the masks of matchers until they are let go. */
function heldBack(matchers: Awaited<ReturnType<typeof matching>>["matchers"]) {
  let release = (): void => {};
  const isReleased = new Promise<void>((resolve) => (release = resolve));
  const waiting = new Set<unknown>();
  for (const matcher of matchers) {
    const prepare = matcher.prepareMask.bind(matcher);
    matcher.prepareMask = async () => {
      waiting.add(matcher);
      await isReleased;
      return prepare();
    };
  }
  return { waiting, release };
}

test.each([0, 2])("while masks are made, others go on: run-ahead %i", async (runAhead) => {
  const harness = new EngineHarness({ config: { runAhead } });
  const bound = await matching("[a-z]{5}", {}, 2);
  const { waiting, release } = heldBack(bound.matchers);
  harness.add("bound", prompt, bound);
  harness.add("free", prompt, free(1));
  while (harness.choice("free").finishReason === null) await harness.step();
  expect(waiting.size).toBe(2); // at once, not one after the other
  expect(harness.choice("bound").tokenIds.length).toBe(1);
  release();
  await harness.runToEnd();
  for (const index of [0, 1]) expect(harness.choice("bound", index).text).toMatch(/^[a-z]{5}$/);
});

test("an engine that has nothing but masks to wait for sleeps until they are there, also after a preemption", async () => {
  const harness = new EngineHarness();
  const bound = await matching("[a-z]{5}");
  const { waiting, release } = heldBack(bound.matchers);
  harness.add("bound", prompt, bound);
  void harness.engine.run();
  while (waiting.size === 0) await Promise.resolve();
  harness.loseDevice({ isReported: true });
  await harness.restoreDevice();
  for (let i = 0; i < 100; i++) await Promise.resolve();
  release();
  while (harness.hasWork) await new Promise((resolve) => setTimeout(resolve));
  expect(harness.choice("bound").text).toMatch(/^[a-z]{5}$/);
  expect(harness.fatal).toEqual([]);
});

test("a matcher that fails ends its own sequence", async () => {
  const harness = new EngineHarness();
  const bound = await matching("[a-z]{5}");
  bound.matchers[0]!.prepareMask = () => Promise.reject(new Error("broken"));
  harness.add("bound", prompt, bound);
  harness.add("free", prompt, free(1));
  await harness.runToEnd();
  expect(harness.choice("bound")).toMatchObject({ finishReason: "abort", error: { code: "internal_error" } });
  expect(harness.choice("free").finishReason).toBe("length");
});

test("those with grammars share their steps where nobody else runs, and who arrives waits for no mask", async () => {
  const harness = new EngineHarness({ config: { runAhead: 2 } });
  const [first, second] = [await matching("[a-z]{8}"), await matching("[a-z]{8}")];
  const { waiting, release } = heldBack(first.matchers);
  harness.add("first", prompt, first);
  const loop = harness.engine.run();
  while (waiting.size === 0) await Promise.resolve();
  harness.add("free", prompt, free(1));
  while (harness.choice("free").finishReason === null) await new Promise((resolve) => setTimeout(resolve));
  expect(harness.choice("first").tokenIds.length).toBe(1);
  release();
  harness.add("second", prompt, second);
  while (harness.hasWork) await new Promise((resolve) => setTimeout(resolve));
  const together = harness.steps.filter(({ entries }) => entries.length === 2);
  expect(together.length).toBeGreaterThan(4);
  harness.engine.fail(new Error("over"));
  await loop;
});
