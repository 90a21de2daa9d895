import { describe, expect, it } from "vitest";

import { MAX_TOP_CANDIDATES } from "../../../engine/sampling/sampling-params.ts";
import type { LogitRules } from "../../../engine/sampling/logit-rules.ts";
import { drawOnCpu, type Drawn } from "../../../../tests/cpu/cpu-sampler.ts";
import { randomNormals } from "../../../../tests/cpu/cpu.ts";
import { ruleReference, type RuledRow } from "../../../../tests/references/rule-reference.ts";

/** Random tokens below `size`. The small ones repeat often. */
function tokens(length: number, size: number, seed: number): number[] {
  return Array.from(randomNormals(length, seed), (x) => Math.floor((x * x * size) / 9) % size);
}

/** What is left after the rules, as the most likely tokens say. */
function expectRuled(logits: Float32Array, request: RuledRow, drawn: Drawn | undefined): void {
  const values = ruleReference(logits, request, -Infinity);
  const logTotal = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
  const expected = request.isBeam ? values : values.map((value) => value - logTotal);
  const left = [...expected.keys()]
    .filter((token) => expected[token] !== -Infinity)
    .sort((a, b) => expected[b]! - expected[a]!);
  const top = drawn?.top ?? [];
  expect(top.length).toBe(Math.min(MAX_TOP_CANDIDATES, left.length));
  top.forEach(({ token, logprob }, i) => {
    const total = request.isBeam ? 0 : Math.log(left.reduce((sum, id) => sum + Math.exp(expected[id]!), 0));
    expect(logprob).toBeCloseTo(expected[left[i]!]! - total, 3);
    expect(logprob).toBeCloseTo(expected[token]! - total, 3);
  });
}

describe.each([2, 31, 33, 512])("a vocabulary of %i", (size) => {
  const logits = randomNormals(size, size, 4);
  const prompt = tokens(90, size, 7);
  const output = tokens(61, size, 8);
  const ids = (count: number, seed: number) => [...new Set(tokens(count, size, seed))];
  const cases: Partial<LogitRules>[] = [
    {},
    { logitBias: ids(40, 1).map((id, i) => [id, i - 20]) },
    { repetitionPenalty: 1.7 },
    { repetitionPenalty: 0.6, frequencyPenalty: -0.3 },
    { frequencyPenalty: 0.25, presencePenalty: 1.5 },
    { noRepeatNgramSize: 1 },
    { noRepeatNgramSize: 2 },
    { noRepeatNgramSize: 3 },
    { badWords: [...ids(70, 2).map((id) => [id]), [...output.slice(-3), 0], [...output.slice(-2), size - 1], [1, 0]] },
    { minTokens: 62, endTokenIds: ids(5, 3) },
    { minTokens: 61, endTokenIds: ids(5, 3) },
    { allowedTokenIds: ids(30, 4) },
    {
      logitBias: [[0, 3]],
      repetitionPenalty: 1.2,
      presencePenalty: 0.5,
      noRepeatNgramSize: 2,
      badWords: [[size - 1]],
      minTokens: 100,
      endTokenIds: [0],
      allowedTokenIds: ids(80, 6),
    },
  ];

  it("is processed as in float64, whatever the rules, with and without a grammar", async () => {
    const requests: RuledRow[] = cases.map((rules) => ({ rules, prompt, output }));
    requests.push(...requests.map((request, i) => ({ ...request, grammar: [size - 1, ...ids(50, i)] })));
    const requested = requests.map((request) => ({ ...request, numTop: MAX_TOP_CANDIDATES }));
    const drawn = await drawOnCpu(logits, requested, "processed_logprobs");
    requests.forEach((request, i) => expectRuled(logits, request, drawn[i]));
  });

  it("is log-probabilities that beams' rules change", async () => {
    const requests: RuledRow[] = cases.map((rules) => ({ rules, prompt, output, isBeam: true }));
    const drawn = await drawOnCpu(
      logits,
      requests.map((request) => ({ ...request, numTop: MAX_TOP_CANDIDATES })),
    );
    requests.forEach((request, i) => expectRuled(logits, request, drawn[i]));
  });
});

it("asks nothing of a history shorter than an n-gram or a bad word", async () => {
  const logits = randomNormals(40, 3);
  const drawn = await drawOnCpu(logits, [
    { prompt: [1, 2] },
    { rules: { noRepeatNgramSize: 3 }, prompt: [1, 2] },
    { rules: { badWords: [[9, 8, 7, 6]] }, prompt: [8, 7] },
  ]);
  expect(new Set(drawn.map(({ token }) => token)).size).toBe(1);
});

it("takes token 0 where every token is forbidden", async () => {
  const rules = { allowedTokenIds: [3], badWords: [[3]] };
  const drawn = await drawOnCpu(randomNormals(50, 3), [{ rules }, { rules, temperature: 1, topK: 3, topP: 0.9 }]);
  expect(drawn.map(({ token }) => token)).toEqual([0, 0]);
});
