// logprobsMode "processed_logprobs": an answer's log-probabilities are those of the distribution that each token was drawn
// from, whatever happens around its request. Nothing else changes.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { openDevice } from "../../src/backends/gpu/device.ts";
import type { LogitRules } from "../../src/engine/sampling/logit-rules.ts";
import { createEngine, type ChatCompletionRequest, type ChorusEngine, type Completion } from "../../src/index.ts";
import { processedLogprobs } from "../references/filter-reference.ts";
import { loadGolden } from "../models/golden.ts";
import { createRunner, lastLogits } from "../gpu/runner-runs.ts";
import { expectClose } from "../gpu/gpu.ts";
import { withCommonDevice } from "../gpu/one-device.ts";
import { ruleReference } from "../references/rule-reference.ts";

type Request = ChatCompletionRequest & { stream?: false };

const gpu = await withCommonDevice();
const opened = await openDevice(gpu);
const { weights } = await loadGolden("gpt2-tiny");
const VOCABULARY = 512;
const TINY = {
  backend: "webgpu",
  worker: false,
  gpu,
  model: "/tests/fixtures/gpt2-tiny/",
  dtype: "f32",
  kvCacheDtype: "f32",
} as const;
const MODE = { ...TINY, logprobsMode: "processed_logprobs" } as const;

interface Case {
  readonly name: string;
  readonly body: Partial<Request>;
  /** The same for the reference. */
  readonly rules?: Partial<LogitRules>;
  readonly sampling: Parameters<typeof processedLogprobs>[1];
}

const ALLOWED = [40, 41, 42, 43, 300];
const CASES: Case[] = [
  { name: "nothing special", body: { temperature: 1, seed: 1 }, sampling: {} },
  {
    name: "temperature, top_k and top_p under penalties and a bias",
    body: {
      temperature: 0.8,
      top_k: 12,
      top_p: 0.9,
      repetition_penalty: 1.3,
      frequency_penalty: 0.4,
      presence_penalty: 0.2,
      logit_bias: { 5: 6, 138: -3 },
      seed: 2,
    },
    rules: {
      repetitionPenalty: 1.3,
      frequencyPenalty: 0.4,
      presencePenalty: 0.2,
      logitBias: [
        [5, 6],
        [138, -3],
      ],
    },
    sampling: { temperature: 0.8, topK: 12, topP: 0.9 },
  },
  {
    name: "greedy, as if the temperature were 1",
    body: { temperature: 0, presence_penalty: 1.5, no_repeat_ngram_size: 2, top_k: 2, top_p: 0.3 },
    rules: { presencePenalty: 1.5, noRepeatNgramSize: 2 },
    sampling: { temperature: 0, topK: 2, topP: 0.3 },
  },
  {
    name: "min_p and typical_p",
    body: { temperature: 1.5, min_p: 0.05, typical_p: 0.7, seed: 3 },
    sampling: { temperature: 1.5, minP: 0.05, typicalP: 0.7 },
  },
  {
    name: "fewer tokens than are asked for",
    body: { temperature: 1, allowed_token_ids: ALLOWED, repetition_penalty: 1.1, seed: 4 },
    rules: { allowedTokenIds: ALLOWED, repetitionPenalty: 1.1 },
    sampling: {},
  },
];

function bodyOf({ body }: Pick<Case, "body">): Request {
  const messages = [{ role: "user" as const, content: "abcab" }];
  return {
    messages,
    max_tokens: 12,
    ignore_eos: true,
    return_token_ids: true,
    logprobs: true,
    top_logprobs: 8,
    ...body,
  };
}

async function ask(engine: ChorusEngine, request: Request) {
  const { choices } = await engine.chat.completions.create(request);
  return choices.map(({ token_ids: output = [], prompt_token_ids: prompt = [], logprobs, finish_reason }) => ({
    prompt,
    output,
    content: logprobs?.content ?? [],
    finish_reason,
  }));
}

describe("an answer's log-probabilities", async () => {
  const runner = await createRunner(opened, weights);
  let processed: ChorusEngine;
  let raw: ChorusEngine;
  beforeAll(async () => {
    [processed, raw] = await Promise.all([createEngine({ ...MODE, runAhead: 0 }), createEngine(TINY)]);
  });
  afterAll(() => Promise.all([processed.dispose(), raw.dispose()]));

  it.each(CASES)("are float64's of its processed logits: $name", async ({ body, rules = {}, sampling }) => {
    const [[reported], [plain]] = [await ask(processed, bodyOf({ body })), await ask(raw, bodyOf({ body }))];
    if (!reported || !plain) throw new Error("no choice");
    expect(reported.output).toEqual(plain.output);
    expect(reported.output).toHaveLength(12);
    for (const [i, token] of reported.output.entries()) {
      const output = reported.output.slice(0, i);
      const logits = (await lastLogits(opened, runner, [...reported.prompt, ...output], VOCABULARY)).slice();
      const ruled = ruleReference(logits, { rules, prompt: reported.prompt, output }, -Infinity);
      const expectToken = (answer: typeof reported, reference: readonly number[]) => {
        const { logprob, top_logprobs: top = [] } = answer.content[i] ?? {};
        expect(logprob).toBeCloseTo(reference[token] ?? NaN, 4);
        // Compared by value: two tokens may have the same text.
        const possible = reference.filter((one) => one !== -Infinity).sort((a, b) => b - a);
        expectClose(
          top.map((one) => one.logprob),
          possible.slice(0, 8),
          1e-4,
        );
      };
      expectToken(reported, processedLogprobs(ruled, sampling));
      expectToken(plain, processedLogprobs(logits, {}));
    }
  });

  it("name only what a grammar lets come, whose probabilities add up", async () => {
    const body = { structured_outputs: { regex: "[abc]{6}" }, temperature: 1.2, seed: 8, top_logprobs: 20 };
    const [reported] = await ask(processed, bodyOf({ body }));
    expect(reported?.finish_reason).toBe("stop");
    for (const { top_logprobs: top, logprob } of reported?.content ?? []) {
      expect(top.length).toBeLessThan(20);
      expect(top.reduce((sum, one) => sum + Math.exp(one.logprob), 0)).toBeCloseTo(1, 4);
      expect(top.map((one) => one.logprob)).toContain(logprob);
    }
  });

  it("leave a prompt's as the model has them", async () => {
    const body = { prompt_logprobs: 3, temperature: 0.5, top_k: 2, repetition_penalty: 1.5, seed: 1 };
    const [reported, plain] = await Promise.all(
      [processed, raw].map((engine) => engine.chat.completions.create(bodyOf({ body }))),
    );
    expect(reported?.prompt_logprobs).toEqual(plain?.prompt_logprobs);
    expect(reported?.choices[0]?.logprobs).not.toEqual(plain?.choices[0]?.logprobs);
  });

  it("leave beam search's scores as they are", async () => {
    const beams = { prompt: [1, 2, 3], use_beam_search: true, n: 3, max_tokens: 6, repetition_penalty: 1.3 };
    const scores = ({ choices }: Completion) => choices.map(({ beam_score, text }) => [beam_score, text]);
    const [found, requested] = await Promise.all([processed, raw].map((engine) => engine.completions.create(beams)));
    if (!found || !requested) throw new Error("no answer");
    expect(scores(found)).toEqual(scores(requested));
  });

  it("are to the last bit the same with drafts, four steps ahead, in pieces and beside others", async () => {
    const alone = [];
    for (const one of CASES) alone.push(await ask(processed, bodyOf(one)));
    await using crowded = await createEngine({
      ...MODE,
      runAhead: 4,
      maxNumBatchedTokens: 24,
      maxNumSeqs: 8,
      speculation: { method: "ngram", num_speculative_tokens: 3, minMatch: 1 },
    });
    const beams = { prompt: [1, 2, 3], use_beam_search: true, n: 2, max_tokens: 6 };
    const [together] = await Promise.all([
      Promise.all(CASES.map((one) => ask(crowded, bodyOf(one)))),
      crowded.completions.create(beams),
    ]);
    expect(together).toEqual(alone);
    expect((await crowded.stats()).spec_decode_num_draft_tokens_total).toBeGreaterThan(0);
  });
});
