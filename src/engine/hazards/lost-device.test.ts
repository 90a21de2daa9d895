// A lost device costs what was in its memory and in flight. Requests keep their tokens and go on with the same ones on the
// next device.

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
import { ChorusError } from "../../protocol/errors.ts";
import type { Runners } from "../runner.ts";

const prompt = byteTokens("What?");
const free = (seed: number) => ({ params: samplingParams({ maxTokens: 20, temperature: 1, seed, ignoreEos: true }) });
const lost = new ChorusError("device_lost", "The device is gone.");

/** Runs it to its end, and loses the device in every fifth step while that is in flight. */
async function runWithLosses(harness: EngineHarness, isReported: boolean): Promise<void> {
  for (let step = 1; harness.hasWork; step++) {
    const running = harness.step();
    if (step % 5 === 0) harness.loseDevice({ isReported });
    await running;
    await harness.restoreDevice();
    expect(step).toBeLessThan(500);
  }
}

test.each([true, false])(
  "answers, choices, beams and drafts are the same (the engine hears of it: %s)",
  async (isReported) => {
    const config = {
      runAhead: 2,
      enablePrefixCaching: true,
      speculation: { method: "ngram" as const, numTokens: 3, minMatch: 1 },
    };
    const run = async (play: (harness: EngineHarness) => Promise<unknown>) => {
      const harness = new EngineHarness({ config });
      harness.add("one", prompt, free(1));
      harness.add("three", prompt, { ...free(2), n: 3 });
      harness.add("scored", prompt, { params: samplingParams({ promptLogprobs: 1 }) });
      const beamSearch = { numBeams: 3, lengthPenalty: 1, earlyStopping: false };
      harness.add("beams", prompt, { beamSearch, n: 2 });
      await play(harness);
      return harness;
    };
    const undisturbed = await run((harness) => harness.runToEnd());
    const disturbed = await run((harness) => runWithLosses(harness, isReported));
    expect(disturbed.engine.stats().device_losses_total).toBeGreaterThan(3);
    expect([...disturbed.choices].sort()).toEqual([...undisturbed.choices].sort());
    expect(disturbed.fatal).toEqual([]);
  },
);

test("a grammar goes on where it was", async () => {
  const compiler = grammarCompiler(BYTE_VOCABULARY);
  const run = async (play: (harness: EngineHarness) => Promise<unknown>) => {
    const harness = new EngineHarness({ config: { runAhead: 2 } });
    const regex = { kind: "regex", pattern: "([a-z]{4} ){5}end", param: "regex" } as const;
    const matchers = await compiler.matchers(regex, [EOS], 1);
    harness.add("bound", prompt, { matchers, params: samplingParams({ maxTokens: 40, temperature: 1, seed: 3 }) });
    harness.add("free", prompt, free(1));
    await play(harness);
    return harness;
  };
  const undisturbed = await run((harness) => harness.runToEnd());
  const disturbed = await run((harness) => runWithLosses(harness, true));
  expect(disturbed.engine.stats().device_losses_total).toBeGreaterThan(3);
  expect(disturbed.choice("bound").text).toMatch(/^([a-z]{4} ){5}end$/);
  expect([...disturbed.choices].sort()).toEqual([...undisturbed.choices].sort());
});

test("the prefix cache finds nothing that the lost device held", async () => {
  const harness = new EngineHarness({ config: { enablePrefixCaching: true } });
  const long = byteTokens("The same prompt again.");
  harness.add("first", long);
  await harness.runToEnd();
  harness.loseDevice({ isReported: true });
  await harness.restoreDevice();
  harness.add("second", long);
  await harness.runToEnd();
  expect(harness.engine.stats()).toMatchObject({ prefix_cache_hits: 0, device_losses_total: 1 });
  expect(harness.choice("second")).toEqual(harness.choice("first"));
});

test("a step that never ends is left behind when the device is given up", async () => {
  const harness = new EngineHarness({ runner: { submit: () => new Promise(() => undefined) }, replaceRunners });
  function replaceRunners() {
    return Promise.resolve({ runner: samplingRunner(() => ({ tokenId: 65, logprob: -1 })) });
  }
  harness.add("one", prompt);
  const stuck = harness.engine.step();
  harness.engine.lose(lost);
  await stuck;
  await harness.runToEnd();
  expect(harness.choice("one")).toMatchObject({ text: "AAAAAAAA", finishReason: "length" });
});

test("without another device the engine dies, and says why", async () => {
  const why = new ChorusError("device_lost", "It was lost three times.");
  const harness = new EngineHarness({ replaceRunners: () => Promise.reject(why) });
  harness.add("one", prompt);
  const loop = harness.engine.run();
  harness.engine.lose(lost);
  await loop;
  expect(harness.fatal).toEqual([why]);
});

test("while there is no device, requests are taken, end by their deadline or abort, and the others run later", async () => {
  let wake = () => {};
  const delay = () => new Promise<void>((resolve) => (wake = resolve));
  const harness = new EngineHarness({ delay });
  void harness.engine.run();
  harness.add("kept", prompt, free(1));
  harness.loseDevice({ isReported: true });
  harness.add("late", prompt, { ...free(2), deadlineMs: 5 });
  harness.add("unwanted", prompt, free(3));
  harness.engine.abort("unwanted");
  expect(harness.choice("unwanted").finishReason).toBe("abort");
  const settle = () => new Promise((resolve) => setTimeout(resolve, 0));
  for (let i = 0; i < 10; i++) {
    await settle();
    wake();
  }
  expect(harness.choice("late")).toMatchObject({ finishReason: "abort", stopReason: "deadline" });
  expect(harness.choice("kept").finishReason).toBeNull();
  await harness.restoreDevice();
  await settle();
  await settle();
  expect(harness.choice("kept").finishReason).toBe("length");
  harness.engine.fail(lost);
});

test("an engine that has failed meanwhile takes no runner of the next device", async () => {
  let restore: (runners: Runners) => void = () => undefined;
  const speculation = { method: "draft_model" as const, numTokens: 2 };
  const replaceRunners = () => new Promise<Runners>((resolve) => (restore = resolve));
  const harness = new EngineHarness({ config: { speculation }, replaceRunners });
  harness.engine.lose(lost);
  harness.engine.fail(lost);
  const runner = samplingRunner(() => {
    throw new Error("No step is planned.");
  });
  let isTaken = false;
  const draft = {
    maxLength: 64,
    get runner() {
      isTaken = true;
      return runner;
    },
  };
  restore({ runner, draft });
  for (let i = 0; i < 10; i++) await Promise.resolve();
  expect(isTaken).toBe(false);
});
