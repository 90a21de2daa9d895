// A draft model changes how many steps an answer takes, and nothing else.

import { describe, expect, test } from "vitest";

import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { byteTokens, EngineHarness, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { FakeRunner } from "../../../tests/fakes/fake-runner.ts";
import type { Runner } from "../runner.ts";
import type { StepPlan } from "../step-plan.ts";

const FAKE = { numGpuBlocks: 2048, blockSize: 4, maxNumSeqs: 64, maxNumBatchedTokens: 256, vocabSize: 257 } as const;
const SPECULATION = { method: "draft_model", numTokens: 3 } as const;

/** The same model as the one that it drafts for: it is always right. Records its calls. */
function twin(changes: Partial<typeof FAKE> = {}): Runner & { readonly plans: StepPlan[] } {
  const runner = new FakeRunner({ ...FAKE, ...changes, speculation: SPECULATION });
  const plans: StepPlan[] = [];
  return {
    plans,
    submit: (plan) => {
      plans.push(structuredClone(plan));
      return runner.submit(plan);
    },
  };
}

const params = (maxTokens: number, changes: Parameters<typeof samplingParams>[0] = {}) =>
  samplingParams({ maxTokens, ignoreEos: true, ...changes });

interface Ways {
  readonly speculation?: ResolvedEngineConfig["speculation"];
  readonly draftRunner?: Runner;
  readonly draftLength?: number;
}

/** Four requests of different lengths, one greedy, three drawn, two of them with rules. */
async function run({ speculation = SPECULATION, ...draft }: Ways) {
  const harness = new EngineHarness({ config: { speculation }, ...draft });
  harness.add("greedy", byteTokens("Once upon a time"), { params: params(20) });
  harness.add("drawn", byteTokens("there"), { params: params(17, { temperature: 1, seed: 5 }) });
  const rules = { temperature: 1, seed: 6, repetitionPenalty: 1.2, noRepeatNgramSize: 2, minTokens: 9 };
  harness.add("ruled", byteTokens("was a very long prompt, indeed."), { params: params(12, rules), n: 2 });
  const steps = await harness.runToEnd();
  return { steps, choices: [...harness.choices].sort(), stats: harness.engine.stats(), requests: harness.requests };
}

test("one that is always right brings all its drafts and one token more a step", async () => {
  const plain = await run({ speculation: null });
  const drafted = await run({ draftRunner: twin() });
  expect(drafted.choices).toEqual(plain.choices);
  const { spec_decode_num_draft_tokens_total: drafts, spec_decode_num_accepted_tokens_total: accepted } = drafted.stats;
  expect(accepted).toBe(drafts);
  expect(plain.steps).toBe(20);
  expect(drafted.steps).toBe(6); // the prompt's token, then four a step
});

test("one that is sometimes right changes no token, and each answer says how often it was", async () => {
  const plain = await run({ speculation: null });
  const drafted = await run({});
  expect(drafted.choices).toEqual(plain.choices);
  const { spec_decode_num_draft_tokens_total: drafts, spec_decode_num_accepted_tokens_total: accepted } = drafted.stats;
  expect(accepted).toBeGreaterThan(drafts / 4);
  expect(accepted).toBeLessThan(drafts);
  const ended = drafted.requests.filter(({ status }) => status === "finished");
  expect(ended.reduce((sum, { draftTokens }) => sum + draftTokens, 0)).toBe(drafts);
  expect(ended.reduce((sum, { acceptedTokens }) => sum + acceptedTokens, 0)).toBe(accepted);
});

test("what it computed for wrong drafts is computed again, also after a pause", async () => {
  const options = { ...FAKE, speculation: SPECULATION, mistakes: 10 };
  const harness = new EngineHarness({ config: { speculation: SPECULATION }, draftRunner: new FakeRunner(options) });
  harness.add("one", byteTokens("Once upon a time"), { params: params(60) });
  while (harness.engine.stats().spec_decode_num_drafts_total < 4) await harness.step();
  expect(harness.engine.stats().spec_decode_num_accepted_tokens_total).toBe(0);
  options.mistakes = 0;
  await harness.runToEnd();
  const { spec_decode_num_draft_tokens_total: drafts, spec_decode_num_accepted_tokens_total: accepted } =
    harness.engine.stats();
  expect(drafts).toBeGreaterThan(20);
  expect(accepted).toBe(drafts - 4 * SPECULATION.numTokens);
});

test("all sequences draft in the same steps, each token once", async () => {
  const draftRunner = twin();
  const harness = new EngineHarness({ config: { speculation: SPECULATION }, draftRunner });
  for (const length of [3, 5, 9]) {
    const prompt = Array.from({ length }, (_, i) => i);
    harness.add(`${length}`, prompt, { params: params(9, { temperature: 1, seed: length }) });
  }
  await harness.runToEnd();
  expect(draftRunner.plans.map((plan) => plan.sequences.map(({ numRows }) => numRows))).toEqual([
    [4, 6, 10], // prompts, and the first token of each
    [1, 1, 1],
    [1, 1, 1],
    [2, 2, 2], // the last draft, whose row nobody needed before, and the token after it
    [1, 1, 1],
    [1, 1, 1],
  ]);
});

test("a long prompt is computed in pieces, and its sequence drafts after the last", async () => {
  const draftRunner = twin({ maxNumBatchedTokens: 16 as never });
  const harness = new EngineHarness({
    config: { speculation: SPECULATION, maxNumBatchedTokens: 16 },
    draftRunner,
  });
  harness.add("long", byteTokens("A prompt of more than sixteen tokens, which takes steps."), { params: params(16) });
  await harness.runToEnd();
  expect(draftRunner.plans[0]?.sequences).toMatchObject([{ start: 0, numRows: 16, numDrawn: 0 }]);
  expect(harness.engine.stats().spec_decode_num_accepted_tokens_total).toBeGreaterThan(5);
});

test("a prompt that it has had before costs it no rows", async () => {
  const draftRunner = twin();
  const config = { speculation: SPECULATION, enablePrefixCaching: true };
  const harness = new EngineHarness({ config, draftRunner });
  const prompt = byteTokens("The same system prompt.");
  harness.add("first", prompt, { params: params(5) });
  await harness.runToEnd();
  const numBefore = draftRunner.plans.length;
  harness.add("second", prompt, { params: params(5) });
  await harness.runToEnd();
  expect(draftRunner.plans[numBefore]?.sequences).toMatchObject([{ start: 20, numRows: 4 }]);
});

describe("where it can't draft, answers go on without it", () => {
  test("beyond its own context", async () => {
    const plain = await run({ speculation: null });
    const drafted = await run({ draftRunner: twin(), draftLength: 24 });
    expect(drafted.choices).toEqual(plain.choices);
    expect(drafted.stats.spec_decode_num_drafts_total).toBeGreaterThan(0);
    expect(drafted.steps).toBeGreaterThan(8);
  });

  test("beside a grammar's and a beam search's answers", async () => {
    const harness = new EngineHarness({ config: { speculation: SPECULATION }, draftRunner: twin() });
    const beamSearch = { numBeams: 2, lengthPenalty: 1, earlyStopping: false };
    harness.add("beams", byteTokens("What?"), { beamSearch });
    await harness.runToEnd();
    expect(harness.engine.stats().spec_decode_num_drafts_total).toBe(0);
  });
});

test("a lost device takes the draft model with it, and the next one goes on", async () => {
  const plain = await run({ speculation: null });
  const harness = new EngineHarness({ config: { speculation: SPECULATION } });
  harness.add("greedy", byteTokens("Once upon a time"), { params: params(20) });
  for (let step = 1; harness.hasWork; step++) {
    const running = harness.step();
    if (step % 3 === 0) harness.loseDevice({ isReported: step % 2 === 0 });
    await running;
    await harness.restoreDevice();
    expect(step).toBeLessThan(100);
  }
  expect(harness.engine.stats().device_losses_total).toBeGreaterThan(1);
  expect(harness.choice("greedy")).toEqual(plain.choices.find(([name]) => name === "greedy/0")?.[1]);
});

test("an engine that is lost while the draft model never answers is not stuck", async () => {
  const draftRunner: Runner = { submit: () => new Promise(() => undefined) };
  const harness = new EngineHarness({ config: { speculation: SPECULATION }, draftRunner });
  harness.add("one", byteTokens("Once"), { params: params(4) });
  await harness.step();
  const stuck = harness.engine.step();
  harness.loseDevice({ isReported: true });
  await stuck;
  expect(harness.engine.stats().device_losses_total).toBe(1);
});
