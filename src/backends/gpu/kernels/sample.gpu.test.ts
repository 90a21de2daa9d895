import { describe, expect, it } from "vitest";

import { filterReference, softmax } from "../../../../tests/references/filter-reference.ts";
import { loadGolden } from "../../../../tests/models/golden.ts";
import { expectClose, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { partsOf } from "../../../../tests/gpu/sum-logits.ts";
import { gumbel, threefry } from "../../../engine/sampling/gumbel.ts";
import { strideOf } from "../padding.ts";
import { sample, samplePlain } from "./kernels.ts";
import { BINS } from "../sampler.ts";

const { device } = await openTestDevice();

interface Request {
  temperature?: number;
  topK?: number;
  topP?: number;
  minP?: number;
  typicalP?: number;
  seed?: number;
  outputIndex?: number;
  isProcessed?: boolean;
}

const PROCESSED = 1;
const PLAIN = 32;
/** Tokens per sequence in the history. */
const MAX_LENGTH = 16;

/**
 * As on software adapters, which take as long for a lane without tokens as for one that has some: for many draws of few
 * tokens.
 */
const NARROW = { LANES: 8 };

/** Sizes of vocabularies. Compiling takes most of the time. */
const [FEW, MANY, DRAWN_OFTEN] = [31, 1000, 24] as const;
const ofFew = (...first: number[]) => padded(FEW, first);
const drawnOften = (...first: number[]) => padded(DRAWN_OFTEN, first);

/** These logits, and others that are never drawn. */
function padded(size: number, first: readonly number[]): Float32Array<ArrayBuffer> {
  const logits = new Float32Array(size).fill(-80);
  logits.set(first);
  return logits;
}

/** Draws once per request, all from the same logits, in one dispatch. */
async function draw(
  logits: Float32Array,
  requests: Request[],
  { LANES = 64, processed = new Float32Array(4), isPlain = false } = {},
): Promise<{ token: number; logprob: number }[]> {
  const stride = strideOf(logits.length);
  const rows = new Float32Array(requests.length * stride);
  requests.forEach((_, i) => rows.set(logits, i * stride));
  const samples = requests.map(({ temperature = 1, topK = 0, topP = 1, minP = 0, typicalP = 1, ...rest }) => {
    const { seed = 0, outputIndex = 0, isProcessed = false } = rest;
    return {
      temperature,
      top_k: topK,
      top_p: topP,
      min_p: minP,
      typical_p: typicalP,
      seed_low: seed % 2 ** 32,
      seed_high: Math.floor(seed / 2 ** 32),
      prompt_length: 3,
      output_index: outputIndex,
      flags: (isProcessed ? PROCESSED : 0) + (isPlain ? PLAIN : 0),
    };
  });
  const shape = { VOCABULARY: logits.length, STRIDE: stride };
  const packed = packSamples(samples);
  const outputs = await runEither(
    isPlain,
    { LANES, ...shape, MAX_LENGTH },
    {
      logits: rows,
      processed,
      logit_parts: await partsOf(device, rows, { ...shape, samples: packed }),
      samples: packed,
      feedback: new Uint32Array(requests.length),
      history: new Uint32Array(requests.length * MAX_LENGTH),
      sampled: new Uint32Array(2 * requests.length),
      bins: new Uint32Array(BINS * requests.length),
    },
  );
  const words = new Uint32Array(outputs.sampled ?? new ArrayBuffer(0));
  const probabilities = new Float32Array(words.buffer);
  const drawn = requests.map((_, i) => ({ token: words[2 * i] ?? -1, logprob: probabilities[2 * i + 1] ?? NaN }));
  expect([...new Uint32Array(outputs.feedback ?? new ArrayBuffer(0)).subarray(0, requests.length)]).toEqual(
    drawn.map((d) => d.token),
  );
  const history = new Uint32Array(outputs.history ?? new ArrayBuffer(0));
  requests.forEach(({ outputIndex = 0 }, i) => expect(history[i * MAX_LENGTH + 3 + outputIndex]).toBe(drawn[i]?.token));
  return drawn;
}

type Constants = Readonly<Record<"LANES" | "VOCABULARY" | "STRIDE" | "MAX_LENGTH", number>>;
type Buffers = Parameters<typeof runKernel>[3] & { readonly feedback: Uint32Array<ArrayBuffer> };

/** Runs the kernel for plain draws, or the one for all others. */
function runEither(isPlain: boolean, constants: Constants, buffers: Buffers): Promise<Record<string, ArrayBuffer>> {
  const workgroups = [buffers.feedback.length, 1] as const;
  if (isPlain) return runKernel(device, samplePlain, constants, buffers, workgroups);
  const kind = { PROCESSED_LOGPROBS: false, HISTOGRAM_IN_BUFFER: constants.LANES === NARROW.LANES };
  return runKernel(device, sample, { ...constants, ...kind }, buffers, workgroups);
}

function seeds(count: number, request: Request): Request[] {
  return Array.from({ length: count }, (_, seed) => ({ ...request, seed }));
}

/** Draws with Gumbel's trick in float64 from the kept tokens. */
function drawReference(
  logits: Float32Array,
  keep: (token: number) => boolean,
  { temperature = 1, seed = 0, outputIndex = 0 }: Request,
): number {
  let best = -1;
  let bestValue = -Infinity;
  logits.forEach((logit, token) => {
    const luck = gumbel([seed % 2 ** 32, Math.floor(seed / 2 ** 32)], [outputIndex, token]);
    const value = logit / temperature + luck;
    if (keep(token) && value > bestValue) [best, bestValue] = [token, value];
  });
  return best;
}

const golden = await loadGolden("gpt2-tiny");
const filtered = golden.prompts.map((prompt) => {
  const { top_k_20, "top_p_0.9": top_p, "min_p_0.1": min_p } = prompt.processed ?? {};
  if (!top_k_20 || !top_p || !min_p) throw new Error("no processed logits in the fixture");
  return {
    name: prompt.name,
    logits: golden.tensor(prompt.last_logits),
    topK20: golden.tensor(top_k_20.logits),
    topP90: golden.tensor(top_p.logits),
    minP10: golden.tensor(min_p.logits),
  };
});

describe.each([1, FEW, MANY])("a vocabulary of %i", (size) => {
  const logits = randomFloats(size, size, 6);

  it("gives the likeliest token at temperature 0", async () => {
    const [drawn] = await draw(logits, [{ temperature: 0 }]);
    expect(drawn?.token).toBe(logits.indexOf(Math.max(...logits)));
  });

  it("gives the token of Gumbel's trick in float64, for many seeds", async () => {
    const requests = seeds(40, { temperature: 0.8, outputIndex: 5 }).map((r) => ({
      ...r,
      seed: (r.seed ?? 0) * 2 ** 30 + 7,
    }));
    const drawn = await draw(logits, requests);
    expect(drawn.map((d) => d.token)).toEqual(requests.map((request) => drawReference(logits, () => true, request)));
  });

  it("gives the same, bit for bit, by the kernel for plain draws", async () => {
    const requests = [{ temperature: 0 }, ...seeds(20, { temperature: 0.8 })];
    expect(await draw(logits, requests, { isPlain: true })).toEqual(await draw(logits, requests));
  });

  it("gives the raw log-probability of the drawn token", async () => {
    const drawn = await draw(logits, seeds(4, { temperature: 0.5, topK: 3 }));
    const probabilities = softmax(logits);
    expectClose(
      drawn.map((d) => d.logprob),
      drawn.map((d) => Math.log(probabilities[d.token] ?? 0)),
      1e-5,
    );
  });
});

it.each([false, true])("takes the lowest id among equal logits (plain: %s)", async (isPlain) => {
  const logits = new Float32Array(300).fill(-1);
  logits[77] = logits[78] = logits[299] = 2;
  expect((await draw(logits, [{ temperature: 0 }], { isPlain, LANES: 2 }))[0]?.token).toBe(77);
});

describe.each(filtered)("Hugging Face's filters on $name", ({ logits, topK20, topP90, minP10 }) => {
  it.each([
    ["top_k = 20", { topK: 20 }, topK20],
    ["top_p = 0.9", { topP: 0.9 }, topP90],
    ["min_p = 0.1", { minP: 0.1 }, minP10],
  ])("%s keeps the same tokens", async (_, filter, expected) => {
    const keep = (token: number) => (expected[token] ?? -Infinity) !== -Infinity;
    const requests = seeds(64, filter);
    const drawn = await draw(logits, requests);
    expect(drawn.map((d) => d.token)).toEqual(requests.map((request) => drawReference(logits, keep, request)));
  });
});

it.each([true, false])("leaves to the other kernel what is not its own (plain: %s)", async (isPlain) => {
  const logits = randomFloats(FEW, 1);
  const shape = { VOCABULARY: FEW, STRIDE: strideOf(FEW) };
  const rows = new Float32Array(2 * shape.STRIDE);
  const samples = packSamples([{ flags: isPlain ? 0 : PLAIN }, { flags: isPlain ? PLAIN : 0 }]);
  rows.set(logits);
  rows.set(logits, shape.STRIDE);
  const { feedback } = await runEither(
    isPlain,
    { LANES: 64, ...shape, MAX_LENGTH },
    {
      logits: rows,
      processed: rows,
      logit_parts: await partsOf(device, rows, { ...shape, samples }),
      samples,
      feedback: new Uint32Array([77, 77]),
      history: new Uint32Array(2 * MAX_LENGTH),
      sampled: new Uint32Array(4),
      bins: new Uint32Array(2 * BINS),
    },
  );
  const [first, second = NaN] = new Uint32Array(feedback ?? new ArrayBuffer(0));
  expect(first).toBe(77);
  expect(second).toBeLessThan(FEW);
});

it("applies top-p after top-k, like Hugging Face", async () => {
  // 0.4, 0.3, 0.2, 0.1: among the first three, 0.4 and 0.3 are 0.78 of the mass; among all four they are 0.7.
  const logits = drawnOften(...[0.4, 0.3, 0.2, 0.1].map(Math.log));
  const both = await draw(logits, seeds(200, { topK: 3, topP: 0.75 }), NARROW);
  expect(new Set(both.map((d) => d.token))).toEqual(new Set([0, 1]));
  const topPOnly = await draw(logits, seeds(200, { topP: 0.75 }), NARROW);
  expect(new Set(topPOnly.map((d) => d.token))).toEqual(new Set([0, 1, 2]));
});

it.each([
  ["k beyond the vocabulary keeps all", { topK: 1000 }, 4],
  ["k = 1 keeps one", { topK: 1 }, 1],
  ["a tiny p keeps one", { topP: 1e-9 }, 1],
  ["p just below 1 keeps all of an even distribution", { topP: 0.999999 }, 4],
])("%s", async (_, filter, kept) => {
  const logits = drawnOften(1, 1.001, 1.002, 1.003);
  const drawn = await draw(logits, seeds(200, filter), NARROW);
  expect(new Set(drawn.map((d) => d.token)).size).toBe(kept);
});

it("keeps tokens at least min-p times as likely as the likeliest, after the temperature", async () => {
  const logits = drawnOften(...[0.5, 0.26, 0.24].map(Math.log));
  const kept = async (request: Request) =>
    new Set((await draw(logits, seeds(300, request), NARROW)).map((d) => d.token)).size;
  expect(await kept({ minP: 0.5 })).toBe(2);
  expect(await kept({ minP: 0.5, temperature: 2 })).toBe(3);
  expect(await kept({ minP: 1 })).toBe(1);
});

it("keeps the typical mass, which may exclude the likeliest token", async () => {
  // Entropy 1.1 nats; surprises 0.69, 1.39, 1.9, 2.3: the second is nearest (0.29), then the first (0.41).
  const probabilities = [0.5, 0.25, 0.15, 0.1];
  const logits = drawnOften(...probabilities.map(Math.log));
  const entropy = -probabilities.reduce((sum, p) => sum + p * Math.log(p), 0);
  const byTypicality = [...probabilities.keys()].sort(
    (a, b) => Math.abs(Math.log(probabilities[a] ?? 0) + entropy) - Math.abs(Math.log(probabilities[b] ?? 0) + entropy),
  );
  expect(byTypicality.slice(0, 2)).toEqual([1, 0]);
  const kept = async (request: Request) =>
    new Set((await draw(logits, seeds(300, request), NARROW)).map((d) => d.token));
  expect(await kept({ typicalP: 0.2 })).toEqual(new Set([1]));
  expect(await kept({ typicalP: 0.7 })).toEqual(new Set([0, 1]));
  expect(await kept({ typicalP: 0.999 })).toEqual(new Set([0, 1, 2, 3]));
});

it("draws from the processed logits under rules, and gives the raw log-probability", async () => {
  const logits = randomFloats(MANY, 5, 3);
  const processed = new Float32Array(2 * strideOf(MANY)).fill(-3.4028234e38);
  processed[strideOf(MANY) + 42] = -1000;
  const [free, ruled] = await draw(logits, [{ temperature: 0 }, { temperature: 0, isProcessed: true }], { processed });
  expect(free?.token).toBe(logits.indexOf(Math.max(...logits)));
  expect(ruled?.token).toBe(42);
  expect(ruled?.logprob).toBeCloseTo(Math.log(softmax(logits)[42] ?? 0), 4);
});

it("takes token 0 if every token is forbidden", async () => {
  const processed = new Float32Array(strideOf(FEW)).fill(-3.4028234e38);
  for (const temperature of [0, 1]) {
    const [drawn] = await draw(randomFloats(FEW, 3), [{ temperature, isProcessed: true }], { processed });
    expect(drawn?.token).toBe(0);
  }
});

it.each<[string, Request]>([
  ["temperature", { temperature: 0.7 }],
  ["top-k and top-p", { topK: 12, topP: 0.85 }],
  ["typical-p", { typicalP: 0.7 }],
  ["all four", { temperature: 1.2, topK: 16, topP: 0.9, minP: 0.05, typicalP: 0.8 }],
])("draws from the distribution of the filtered logits (%s)", async (_, request) => {
  const logits = randomFloats(DRAWN_OFTEN, 11, 2);
  const scaled = Array.from(logits, (logit) => logit / (request.temperature ?? 1));
  const { kept, probabilities } = filterReference(scaled, request);
  const total = kept.reduce((sum, token) => sum + (probabilities[token] ?? 0), 0);

  const draws = 4000;
  const counts = new Map<number, number>();
  for (const { token } of await draw(logits, seeds(draws, request), NARROW))
    counts.set(token, (counts.get(token) ?? 0) + 1);
  expect([...counts.keys()].every((token) => kept.includes(token))).toBe(true);
  const chiSquare = kept.reduce((sum, token) => {
    const expected = (draws * (probabilities[token] ?? 0)) / total;
    return sum + ((counts.get(token) ?? 0) - expected) ** 2 / expected;
  }, 0);
  // Chi-squared with n degrees of freedom has mean n and variance 2n; allow four standard deviations. The seeds are fixed.
  const degrees = kept.length - 1;
  expect(chiSquare).toBeLessThan(degrees + 4 * Math.sqrt(2 * degrees));
});

it("draws the same alone and beside other requests, whatever their seeds", async () => {
  const logits = randomFloats(MANY, 12, 3);
  const mine = { temperature: 0.9, topK: 50, topP: 0.95, seed: 2 ** 40 + 3, outputIndex: 9 };
  const crowd = await draw(logits, [{ temperature: 0 }, ...seeds(20, { temperature: 2 }), mine, { topP: 0.1 }]);
  expect(crowd[21]).toEqual((await draw(logits, [mine]))[0]);
});

it("draws different tokens for different output indices and different halves of a seed", async () => {
  const logits = new Float32Array(MANY);
  const requests = [{ seed: 1 }, { seed: 2 }, { seed: 2 ** 32 + 1 }, { seed: 1, outputIndex: 1 }];
  expect(new Set((await draw(logits, requests)).map((d) => d.token)).size).toBe(4);
});

it("makes no token certain, even with the largest random number", async () => {
  // The smallest seed whose random number for token 1 begins with 24 ones, the largest below 1.
  const request = { seed: 8739893 };
  expect(threefry([request.seed, 0], [0, 1])[0] >>> 8).toBe(0xffffff);
  expect((await draw(ofFew(10, -10), [request]))[0]?.token).toBe(0);
});

describe.each<[string, Request, { readonly isPlain?: boolean }?]>([
  ["greedy", { temperature: 0 }],
  ["greedy, by the kernel for plain draws", { temperature: 0 }, { isPlain: true }],
  ["free", {}],
  ["free, by the kernel for plain draws", {}, { isPlain: true }],
  ["top-k", { topK: 1 }],
  ["top-p", { topP: 0.5 }],
  ["top-k and top-p at a low temperature", { temperature: 1e-5, topK: 5, topP: 0.9 }],
])("a drawn token (%s)", (_, request, kernel) => {
  it("never has probability 0 or a NaN logit", async () => {
    for (const odd of [-Infinity, NaN, -NaN]) {
      const logits = new Float32Array(FEW).fill(odd);
      logits[7] = logits[30] = 3;
      for (const { token } of await draw(logits, seeds(20, request), kernel)) expect([7, 30]).toContain(token);
    }
  });

  it("is in the vocabulary, even if every logit is NaN", async () => {
    for (const odd of [-Infinity, NaN]) {
      const [drawn] = await draw(new Float32Array(FEW).fill(odd), [request], kernel);
      expect(drawn?.token).toBeLessThan(31);
    }
  });
});
