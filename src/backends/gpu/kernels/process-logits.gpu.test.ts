import { describe, expect, it } from "vitest";

import { NO_RULES, type LogitRules } from "../../../engine/sampling/logit-rules.ts";
import { loadGolden } from "../../../../tests/models/golden.ts";
import { openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { ruleReference, type RuledRow } from "../../../../tests/references/rule-reference.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { strideOf } from "../padding.ts";
import { packRules, ruleTableShape } from "../../rule-table.ts";
import { processLogits } from "./kernels.ts";

const { device } = await openTestDevice();

const FORBIDDEN = Math.fround(-3.4028234e38);
const MAX_LENGTH = 200;

/** Processes the same logits for each request, in one dispatch. */
async function processed(logits: Float32Array, requests: readonly RuledRow[]): Promise<Float32Array[]> {
  const size = logits.length;
  const STRIDE = strideOf(size);
  const shape = ruleTableShape(size);
  const rows = new Float32Array(requests.length * STRIDE);
  const history = new Uint32Array(requests.length * MAX_LENGTH);
  const rules = new Uint32Array(requests.length * shape.words);
  const masks = new Uint32Array(requests.length * shape.maskWords);
  const samples = requests.map(({ rules: some, prompt, output = [], isBeam = false, grammar }, i) => {
    const all = { ...NO_RULES, ...some };
    rows.set(logits, i * STRIDE);
    history.set([...prompt, ...output], i * MAX_LENGTH);
    rules.set(packRules(all, shape), i * shape.words);
    // The masks' rows have another order than the samples.
    const row = requests.length - 1 - i;
    for (const id of grammar ?? []) masks[row * shape.maskWords + (id >> 5)]! |= 1 << (id & 31);
    return {
      prompt_length: prompt.length,
      output_index: output.length,
      repetition_penalty: all.repetitionPenalty,
      frequency_penalty: all.frequencyPenalty,
      presence_penalty: all.presencePenalty,
      no_repeat_ngram_size: all.noRepeatNgramSize,
      flags: 1 | (output.length < all.minTokens ? 2 : 0) | (isBeam ? 4 : 0) | (grammar ? 8 : 0),
      mask: row,
    };
  });
  const outputs = await runKernel(
    device,
    processLogits,
    { LANES: 64, VOCABULARY: size, STRIDE, MAX_LENGTH, RULE_WORDS: shape.words },
    {
      logits: rows,
      samples: packSamples(samples),
      history,
      rules,
      masks,
      counts: new Uint32Array(requests.length * STRIDE),
      processed: new Float32Array(requests.length * STRIDE),
    },
    [requests.length, 1],
  );
  expect(new Uint32Array(outputs.counts ?? new ArrayBuffer(4)).every((count) => count === 0)).toBe(true);
  const values = new Float32Array(outputs.processed ?? new ArrayBuffer(0));
  return requests.map((_, i) => values.slice(i * STRIDE, i * STRIDE + size));
}

const reference = (logits: Float32Array, request: RuledRow) => ruleReference(logits, request, FORBIDDEN);

function expectProcessed(actual: Float32Array, expected: readonly number[]): void {
  expected.forEach((value, id) => {
    if (value === FORBIDDEN) expect(actual[id], `token ${id}`).toBe(FORBIDDEN);
    else expect(actual[id], `token ${id}`).toBeCloseTo(value, 4);
  });
}

/** Returns random tokens, some of them frequent. */
function tokens(length: number, size: number, seed: number): number[] {
  return Array.from(randomFloats(length, seed, 1), (x) => Math.floor(Math.abs(x) ** 3 * size) % size);
}

describe.each([1, 2, 31, 33, 512, 1001])("a vocabulary of %i", (size) => {
  const logits = randomFloats(size, size, 20);
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
    { badWords: [...ids(70, 2).map((id) => [id]), [...output.slice(-3), 0], [...output.slice(-2), size - 1], [5, 0]] },
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

  it("is processed as in float64 under all rules, side by side", async () => {
    const requests: RuledRow[] = cases.map((rules) => ({ rules, prompt, output }));
    requests.push(...requests.map((request, i) => ({ ...request, grammar: [size - 1, ...ids(50, i)] })));
    const results = await processed(logits, requests);
    results.forEach((result, i) => expectProcessed(result, reference(logits, requests[i]!)));
  });
});

it("is not restricted by a history shorter than an n-gram or a bad word", async () => {
  const logits = randomFloats(40, 3);
  const requests = [
    { rules: { noRepeatNgramSize: 3 }, prompt: [1, 2] },
    { rules: { badWords: [[9, 8, 7, 6]] }, prompt: [8, 7] },
  ];
  for (const result of await processed(logits, requests)) expect([...result]).toEqual([...logits]);
});

describe("Hugging Face's processors", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const cases = golden.prompts.flatMap(({ name, ids, last_logits, processed: expected }) => [
    {
      name: `${name}: repetition_penalty`,
      ids,
      last_logits,
      rules: { repetitionPenalty: 1.3 },
      expected: expected?.["repetition_penalty_1.3"]?.logits,
    },
    {
      name: `${name}: no_repeat_ngram`,
      ids,
      last_logits,
      rules: { noRepeatNgramSize: 3 },
      expected: expected?.["no_repeat_ngram_3"]?.logits,
    },
  ]);
  const ngrams = golden.ngram_case;
  if (!ngrams) throw new Error("no ngram_case in the fixture");
  const { ids, last_logits } = ngrams;
  cases.push(
    { name: "n-grams of 3", ids, last_logits, rules: { noRepeatNgramSize: 3 }, expected: ngrams.no_repeat_ngram_3 },
    { name: "n-grams of 2", ids, last_logits, rules: { noRepeatNgramSize: 2 }, expected: ngrams.no_repeat_ngram_2 },
    {
      name: "a penalty",
      ids,
      last_logits,
      rules: { repetitionPenalty: 1.3 },
      expected: ngrams["repetition_penalty_1.3"],
    },
  );

  it.each(cases)("$name", async ({ ids: prompt, last_logits: raw, rules, expected }) => {
    if (!expected) throw new Error("no such processed logits in the fixture");
    const expectedRow = Array.from(golden.tensor(expected), (value) => (value === -Infinity ? FORBIDDEN : value));
    const [result] = await processed(golden.tensor(raw).slice(), [{ rules, prompt }]);
    expectProcessed(result!, expectedRow);
  });
});

it("changes a beam's log-probabilities like Hugging Face, beside other samples' logits", async () => {
  const logits = randomFloats(301, 77, 8);
  const rules: Partial<LogitRules> = { repetitionPenalty: 1.3, noRepeatNgramSize: 2, minTokens: 3, endTokenIds: [9] };
  const request: RuledRow = { rules, prompt: [5, 6, 7], output: [5] };
  const requests = [request, { ...request, isBeam: true }, { rules: {}, prompt: [1], isBeam: true }];
  const actual = await processed(logits, requests);
  for (const [i, one] of requests.entries()) expectProcessed(actual[i]!, reference(logits, one));
});
