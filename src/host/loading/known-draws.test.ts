// The CPU's sampler draws rightly; one that forgets a rule or a filter is found out.

import { expect, it, test } from "vitest";

import { resolveEngineConfig } from "../../api/engine-config.ts";
import type { DrawKind } from "../../backends/backend.ts";
import { cpuBackend } from "../../backends/cpu/cpu-backend.ts";
import type { Runner, StepResult, TokenLogprob } from "../../engine/runner.ts";
import type { DrawParams, ListRules, StepPlan } from "../../engine/step-plan.ts";
import { allowRelaxedSimd } from "../../../tests/cpu/cpu.ts";
import { readFixture } from "../../../tests/models/fixtures.ts";
import { ONE_THREAD } from "../platforms/offered-backends.ts";
import { areDrawsRight } from "./known-draws.ts";

allowRelaxedSimd();

const weights = (await readFixture("gpt2-tiny")).weights();
const { vocabSize } = weights.model.shape;
const sizes = { maxNumSeqs: 1, numGpuBlocks: 4, dtype: "f32", kvCacheDtype: "f32" } as const;

async function isRight(
  kind: DrawKind,
  { plan: changePlan = (plan: StepPlan) => plan, result = (one: StepResult) => one } = {},
  logprobsMode: "raw_logprobs" | "processed_logprobs" = "raw_logprobs",
): Promise<boolean> {
  const engine = resolveEngineConfig({ ...sizes, logprobsMode }, weights.model.shape);
  const cpu = await (await cpuBackend(ONE_THREAD).open()).load({ weights, engine });
  const runner: Runner = { submit: async (plan) => result(await cpu.submit(changePlan(plan))) };
  return areDrawsRight({ runner, slot: 0, vocabSize }, kind).finally(() => cpu.dispose());
}

const withParams =
  (params: Partial<DrawParams>) =>
  (plan: StepPlan): StepPlan => ({
    ...plan,
    samples: plan.samples.map((one) => (one.kind === "draw" ? { ...one, params: { ...one.params, ...params } } : one)),
  });

const withRules =
  (rules: Partial<ListRules>) =>
  (plan: StepPlan): StepPlan => ({
    ...plan,
    rules: plan.rules.map((one) => ({ ...one, rules: { ...one.rules, ...rules } })),
  });

const KINDS: readonly DrawKind[] = ["filters", "rules", "top"];

test.each(KINDS)("right %s are right, whichever logits log-probabilities are of", async (kind) => {
  expect(await isRight(kind)).toBe(true);
  expect(await isRight(kind, {}, "processed_logprobs")).toBe(true);
});

test.each<[DrawKind, string, (plan: StepPlan) => StepPlan]>([
  ["filters", "top-k", withParams({ topK: 0 })],
  ["filters", "top-p", withParams({ topP: 1 })],
  ["filters", "min-p", withParams({ minP: 0 })],
  ["rules", "top-k", withParams({ topK: 0 })],
  ["rules", "top-p", withParams({ topP: 1 })],
  ["rules", "min-p", withParams({ minP: 0 })],
  ["rules", "typical-p", withParams({ typicalP: 1 })],
  ["rules", "n-grams", withParams({ noRepeatNgramSize: 0 })],
  ["rules", "the repetition penalty", withParams({ repetitionPenalty: 1 })],
  ["rules", "the frequency penalty", withParams({ frequencyPenalty: 0 })],
  ["rules", "the presence penalty", withParams({ presencePenalty: 0 })],
  ["rules", "the seed", withParams({ seed: 12345 })],
  ["rules", "a mask", (plan) => ({ ...plan, masks: plan.masks.map((mask) => mask.map(() => 0xffffffff)) })],
  ["rules", "logit biases", withRules({ logitBias: [] })],
  ["rules", "bad words", withRules({ badWords: [] })],
  ["rules", "which tokens end an answer", withRules({ endTokenIds: [] })],
  ["rules", "which tokens are allowed", withRules({ allowedTokenIds: null })],
])("a sampler for %s that forgets %s is found out", async (kind, _what, plan) => {
  expect(await isRight(kind, { plan })).toBe(false);
});

it("top log-probabilities in another order, of another token or off in the last bit are found out", async () => {
  const change = (swap: (top: TokenLogprob[]) => readonly TokenLogprob[]) => (step: StepResult) => ({
    ...step,
    sequences: step.sequences.map((one) => ({
      ...one,
      scored: one.scored.map(({ top = [], ...token }) => ({ ...token, top: top.length > 0 ? swap([...top]) : top })),
    })),
  });
  expect(await isRight("top", { result: change((top) => top.reverse()) })).toBe(false);
  expect(await isRight("top", { result: change((top) => top.with(2, { tokenId: 3, logprob: -5 })) })).toBe(false);
  const lastBit = (value: number) => Math.fround(value * (1 + 2 ** -23));
  const off = change((top) => top.map((one, i) => (i === 4 ? { ...one, logprob: lastBit(one.logprob) } : one)));
  expect(await isRight("top", { result: off })).toBe(false);
});
