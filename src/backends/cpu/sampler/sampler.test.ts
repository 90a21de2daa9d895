import { describe, expect, it } from "vitest";

import type { TokenFilters } from "../../../engine/sampling/sampling-params.ts";
import { drawOnCpu, type DrawRequest } from "../../../../tests/cpu/cpu-sampler.ts";
import { expectNear, randomNormals } from "../../../../tests/cpu/cpu.ts";
import { filterReference, processedLogprobs, softmax } from "../../../../tests/references/filter-reference.ts";
import { gumbel, threefry } from "../../../engine/sampling/gumbel.ts";

const FORBIDDEN = Math.fround(-3.4028234e38);

function seeds(count: number, request: DrawRequest): DrawRequest[] {
  return Array.from({ length: count }, (_, seed) => ({ temperature: 1, ...request, seed: (request.seed ?? 0) + seed }));
}

/** What Gumbel's trick draws, in float64, from the tokens that are kept. */
function drawReference(logits: Float32Array, kept: readonly number[], request: DrawRequest): number {
  const { seed = 0, temperature = 1, output = [] } = request;
  let best = -1;
  let bestValue = -Infinity;
  for (const token of kept.toSorted((a, b) => a - b)) {
    const luck = gumbel([seed % 2 ** 32, Math.floor(seed / 2 ** 32)], [output.length, token]);
    const value = (logits[token] ?? NaN) / temperature + luck;
    if (value > bestValue) [best, bestValue] = [token, value];
  }
  return best;
}

describe.each([1, 2, 31, 33, 512, 5000])("a vocabulary of %i", (size) => {
  const logits = randomNormals(size, size, 2);
  const probabilities = softmax(logits);

  it("is drawn from greedily at temperature 0, and the token joins the history", async () => {
    const [drawn] = await drawOnCpu(logits, [{ prompt: [0], output: [0, 0] }]);
    const token = logits.indexOf(Math.max(...logits));
    expect(drawn?.token).toBe(token);
    expect(drawn?.history).toEqual([0, 0, 0, token]);
    expect(drawn?.logprob).toBeCloseTo(Math.log(probabilities[token] ?? 0), 5);
  });

  it("gives the token that Gumbel's trick gives in float64, for many seeds", async () => {
    const requests = seeds(40, { temperature: 0.8, output: [0, 0], seed: 2 ** 40 + 7 });
    const drawn = await drawOnCpu(logits, requests);
    expect(drawn.map(({ token }) => token)).toEqual(
      requests.map((request) => drawReference(logits, [...logits.keys()], request)),
    );
  });

  it.each<[string, Partial<TokenFilters>]>([
    ["top-k", { topK: 7 }],
    ["top-p", { topP: 0.8 }],
    ["min-p", { minP: 0.1 }],
    ["typical-p", { typicalP: 0.7 }],
    ["all four", { topK: 200, topP: 0.95, minP: 0.01, typicalP: 0.9 }],
  ])("keeps what %s keeps in float64", async (_, filters) => {
    const temperature = 1.25;
    const scaled = Array.from(logits, (logit) => logit / temperature);
    const { kept } = filterReference(scaled, filters);
    const requests = seeds(40, { ...filters, temperature });
    const drawn = await drawOnCpu(logits, requests);
    expect(drawn.map(({ token }) => token)).toEqual(requests.map((request) => drawReference(logits, kept, request)));
  });

  it("tells the most likely tokens in order, and scores tokens with their rank", async () => {
    const order = [...logits.keys()].sort((a, b) => (logits[b] ?? 0) - (logits[a] ?? 0));
    const scored = order[Math.floor(size / 2)] ?? 0;
    const [drawn, score] = await drawOnCpu(logits, [
      { numTop: 20 },
      { isScored: true, scoredToken: scored, numTop: 3 },
    ]);
    expect(drawn?.top.map(({ token }) => token)).toEqual(order.slice(0, 20));
    expectNear(
      drawn?.top.map(({ logprob }) => logprob) ?? [],
      order.slice(0, 20).map((token) => Math.log(probabilities[token] ?? 0)),
      1e-6,
    );
    expect(score?.token).toBe(1 + Math.floor(size / 2));
    expect(score?.logprob).toBeCloseTo(Math.log(probabilities[scored] ?? 0), 5);
    expect(score?.top.map(({ token }) => token)).toEqual(order.slice(0, 3));
    expect(score?.history.at(-1)).toBe(0);
  });

  it("tells processed log-probabilities of what is left", async () => {
    const filters = { topK: 5, topP: 0.9 };
    for (const temperature of [0, 0.7]) {
      const request = { ...filters, temperature, numTop: 8, rules: { logitBias: [[0, 3] as const] } };
      const biased = logits.map((logit, token) => (token === 0 ? logit + 3 : logit));
      const expected = processedLogprobs(biased, request);
      const [drawn] = await drawOnCpu(logits, [request], "processed_logprobs");
      const order = [...expected.keys()]
        .filter((token) => (expected[token] ?? 0) > -Infinity)
        .sort((a, b) => (expected[b] ?? 0) - (expected[a] ?? 0));
      expect(drawn?.top.map(({ token }) => token)).toEqual(order.slice(0, 8));
      expect(drawn?.logprob).toBeCloseTo(expected[drawn?.token ?? 0] ?? NaN, 4);
      const reported = drawn?.top.map(({ logprob }) => logprob) ?? [];
      expectNear(
        reported,
        order.slice(0, 8).map((token) => expected[token] ?? NaN),
        3e-6,
      );
    }
  });
});

it("takes the lowest id among equal logits, drawn or told", async () => {
  const logits = new Float32Array(300).fill(-1);
  logits[77] = logits[78] = logits[299] = 2;
  const [drawn] = await drawOnCpu(logits, [{ numTop: 4 }]);
  expect(drawn?.token).toBe(77);
  expect(drawn?.top.map(({ token }) => token)).toEqual([77, 78, 299, 0]);
});

it("makes no token certain, whatever its random number is", async () => {
  // The smallest seed whose random number for token 1 begins with 24 ones: the nearest to 1 that a number comes.
  const request = { seed: 8739893, temperature: 1 };
  expect(threefry([request.seed, 0], [0, 1])[0] >>> 8).toBe(0xffffff);
  expect((await drawOnCpu(new Float32Array([10, -10]), [request]))[0]?.token).toBe(0);
});

describe.each<[string, DrawRequest]>([
  ["greedy", { temperature: 0 }],
  ["plain", { temperature: 1 }],
  ["top-k", { temperature: 1, topK: 1 }],
  ["top-p", { temperature: 1, topP: 0.5 }],
  ["typical-p", { temperature: 1, typicalP: 0.5 }],
  ["top-k and top-p at a low temperature", { temperature: 1e-5, topK: 5, topP: 0.9 }],
])("what is drawn (%s)", (_, request) => {
  it("is never a token of probability 0, nor one whose logit is not a number", async () => {
    for (const odd of [-Infinity, NaN, -NaN, FORBIDDEN]) {
      const logits = new Float32Array(31).fill(odd);
      logits[7] = logits[30] = 3;
      for (const { token } of await drawOnCpu(logits, seeds(20, request))) expect([7, 30]).toContain(token);
    }
  });

  it("is of the vocabulary, even where no logit is a number", async () => {
    for (const odd of [-Infinity, NaN]) {
      const [drawn] = await drawOnCpu(new Float32Array(31).fill(odd), [request]);
      expect(drawn?.token).toBeLessThan(31);
    }
  });
});
