// vLLM's processed_logprobs: log-probabilities from the distribution of the draw. `sample` writes it; `top-logprobs` reads
// it.

import { describe, expect, it } from "vitest";

import { MAX_TOP_LOGPROBS } from "../../../engine/sampling/sampling-params.ts";
import { processedLogprobs, softmax } from "../../../../tests/references/filter-reference.ts";
import { loadGolden } from "../../../../tests/models/golden.ts";
import { expectClose, floatsOf, openTestDevice, randomFloats, runKernel } from "../../../../tests/gpu/gpu.ts";
import { packSamples } from "../../../../tests/gpu/samples.ts";
import { partsOf } from "../../../../tests/gpu/sum-logits.ts";
import { strideOf } from "../padding.ts";
import { sample, topLogprobs } from "./kernels.ts";
import { BINS } from "../sampler.ts";

const { device } = await openTestDevice();

const FORBIDDEN = Math.fround(-3.4028234e38);
const MAX_LENGTH = 16;
const MAX_TOP = MAX_TOP_LOGPROBS;
const PROCESSED = 1;
const NORMALISED = 4;
const SCORED = 16;
const PLAIN = 32;

type Fields = Readonly<Record<string, number>>;

interface SampleResult {
  readonly token: number;
  readonly logprob: number;
  /** The contents of `processed`. */
  readonly row: Float32Array;
  readonly top: readonly { readonly token: number; readonly logprob: number }[];
}

/** Runs both kernels. Samples with rules draw from `processed`, the others from `logits`. */
async function notify(
  logits: Float32Array,
  fields: readonly Fields[],
  { processed = new Float32Array(logits.length).fill(FORBIDDEN), isProcessed = true } = {},
): Promise<SampleResult[]> {
  const VOCABULARY = logits.length;
  const STRIDE = strideOf(VOCABULARY);
  const rowsOf = (values: Float32Array) => {
    const rows = new Float32Array(fields.length * STRIDE);
    fields.forEach((_, i) => rows.set(values, i * STRIDE));
    return rows;
  };
  const shape = { LANES: 64, VOCABULARY, STRIDE, PROCESSED_LOGPROBS: isProcessed };
  const samples = packSamples(fields.map((own) => ({ num_top: MAX_TOP, ...own })));
  const parts = await partsOf(device, rowsOf(logits), { VOCABULARY, STRIDE, samples });
  const drawn = await runKernel(
    device,
    sample,
    { ...shape, MAX_LENGTH, HISTOGRAM_IN_BUFFER: false },
    {
      logits: rowsOf(logits),
      processed: rowsOf(processed),
      samples,
      logit_parts: parts,
      feedback: new Uint32Array(fields.length),
      history: new Uint32Array(fields.length * MAX_LENGTH),
      sampled: new Uint32Array(2 * fields.length),
      bins: new Uint32Array(BINS * fields.length),
    },
    [fields.length, 1],
  );
  const rows = floatsOf(drawn, "processed");
  const listed = await runKernel(
    device,
    topLogprobs,
    { ...shape, MAX_TOP },
    {
      logits: rowsOf(logits),
      processed: rows.slice(),
      samples,
      logit_parts: parts,
      top: new Uint32Array(2 * MAX_TOP * fields.length),
    },
    [fields.length, 1],
  );
  const pairAt = (outputs: Record<string, ArrayBuffer>, name: string, at: number) => ({
    token: new Uint32Array(outputs[name] ?? new ArrayBuffer(0))[2 * at] ?? -1,
    logprob: floatsOf(outputs, name)[2 * at + 1] ?? NaN,
  });
  return fields.map((_, i) => ({
    ...pairAt(drawn, "sampled", i),
    row: rows.slice(i * STRIDE, i * STRIDE + VOCABULARY),
    top: Array.from({ length: MAX_TOP }, (_unused, n) => pairAt(listed, "top", i * MAX_TOP + n)),
  }));
}

/** Replaces FORBIDDEN, which is finite, by -Infinity. */
const orImpossible = (value: number) => (value === FORBIDDEN ? -Infinity : value);

function expectResult(
  { token, logprob, row, top }: SampleResult,
  reference: readonly number[],
  tolerance = 2e-5,
): void {
  const isPossible = reference.map((value) => value !== -Infinity);
  expect(Array.from(row, (value) => value !== FORBIDDEN)).toEqual(isPossible);
  const possible = [...reference.keys()].filter((id) => isPossible[id]);
  const at = (values: ArrayLike<number>) => possible.map((id) => values[id] ?? NaN);
  expectClose(at(row), at(reference), tolerance);
  expect(logprob).toBe(row[token]);
  expect(isPossible[token]).toBe(true);

  const order = possible.sort((a, b) => (row[b] ?? NaN) - (row[a] ?? NaN) || a - b).slice(0, MAX_TOP);
  const results = top.filter((one) => one.logprob > FORBIDDEN);
  expect(results).toEqual(order.map((id) => ({ token: id, logprob: row[id] })));
}

interface Sampling {
  readonly temperature?: number;
  readonly topK?: number;
  readonly topP?: number;
  readonly minP?: number;
  readonly typicalP?: number;
}

const SAMPLINGS: readonly Sampling[] = [
  {},
  { temperature: 0 },
  { temperature: 0, topK: 2, topP: 0.5, minP: 0.3, typicalP: 0.4 }, // greedy has no filters
  { temperature: 0.6 },
  { temperature: 1.7 },
  { topK: 1 },
  { topK: 7 },
  { temperature: 1.4, topP: 0.8 },
  { temperature: 1.2, minP: 0.15 },
  { typicalP: 0.6 },
  { temperature: 1.3, topK: 25, topP: 0.95, minP: 0.01, typicalP: 0.9 },
];

function fieldsOf({ temperature = 1, topK = 0, topP = 1, minP = 0, typicalP = 1 }: Sampling): Fields {
  return { temperature, top_k: topK, top_p: topP, min_p: minP, typical_p: typicalP, seed_low: 7 };
}

/** Compiling takes most of the time: what follows uses these, too. */
const [FEW, MANY] = [31, 1001] as const;

describe.each([1, FEW, MANY])("a vocabulary of %i", (size) => {
  const logits = randomFloats(size, size, 6);
  // Other logits, some of them forbidden by rules.
  const ruled = randomFloats(size, size + 1, 6).map((logit, i) => (i % 3 === 1 ? FORBIDDEN : logit));

  it("has float64's processed log-probabilities under every filter, with and without rules", async () => {
    const plain = SAMPLINGS.map(fieldsOf);
    const results = await notify(logits, [...plain, ...plain.map((own) => ({ ...own, flags: PROCESSED }))], {
      processed: ruled,
    });
    SAMPLINGS.forEach((sampling, i) => {
      const [free, bound] = [results[i], results[i + SAMPLINGS.length]];
      if (!free || !bound) throw new Error("no such sample");
      expectResult(free, processedLogprobs(logits, sampling));
      expectResult(bound, processedLogprobs(Array.from(ruled, orImpossible), sampling));
    });
  });

  it.skipIf(size === 1)("draws the same tokens in raw mode, which leaves `processed` unchanged", async () => {
    const fields = SAMPLINGS.map((sampling) => ({ ...fieldsOf(sampling), flags: PROCESSED }));
    const [results, raw] = [
      await notify(logits, fields, { processed: ruled }),
      await notify(logits, fields, { processed: ruled, isProcessed: false }),
    ];
    expect(results.map(({ token }) => token)).toEqual(raw.map(({ token }) => token));
    const reference = softmax(logits).map(Math.log);
    for (const { token, logprob, row, top } of raw) {
      expect(row).toEqual(ruled);
      const highest = [...reference.keys()].sort((a, b) => (reference[b] ?? 0) - (reference[a] ?? 0)).slice(0, MAX_TOP);
      expect(top.slice(0, size).map((one) => one.token)).toEqual(highest);
      expectClose(
        [logprob, top[0]?.logprob ?? NaN],
        [reference[token] ?? NaN, reference[highest[0] ?? 0] ?? NaN],
        2e-5,
      );
    }
  });
});

describe("Hugging Face's filters", async () => {
  const golden = await loadGolden("gpt2-tiny");
  const cases = golden.prompts.flatMap(({ name, last_logits, processed }) =>
    (
      [
        ["top_k_20", { topK: 20 }],
        ["top_p_0.9", { topP: 0.9 }],
        ["min_p_0.1", { minP: 0.1 }],
      ] as const
    ).map(([filter, sampling]) => ({ name, filter, sampling, last_logits, filtered: processed?.[filter]?.logits })),
  );

  it.each(cases)("$filter of $name", async ({ sampling, last_logits, filtered }) => {
    if (!filtered) throw new Error("no such processed logits in the fixture");
    const [result] = await notify(golden.tensor(last_logits).slice(), [fieldsOf(sampling)]);
    if (!result) throw new Error("no sample");
    expectResult(result, softmax(golden.tensor(filtered)).map(Math.log));
  });
});

it("lists no more tokens than the filters keep", async () => {
  const [result] = await notify(randomFloats(MANY, 1, 5), [fieldsOf({ topK: 3 })]);
  const possible = result?.top.filter(({ logprob }) => logprob > FORBIDDEN) ?? [];
  expect(possible).toHaveLength(3);
  expect(possible.reduce((sum, { logprob }) => sum + Math.exp(logprob), 0)).toBeCloseTo(1, 5);
  expect(result?.top.slice(3).every(({ logprob }) => logprob === FORBIDDEN)).toBe(true);
});

it("gives a token drawn when all are forbidden the log-probability of an impossible one", async () => {
  for (const temperature of [0, 1]) {
    const fields = [{ ...fieldsOf({ temperature, topK: 5, topP: 0.9 }), flags: PROCESSED }];
    const [result] = await notify(randomFloats(FEW, 3), fields);
    expect(result).toMatchObject({ token: 0, logprob: FORBIDDEN });
    expect(result?.top.every(({ logprob }) => logprob === FORBIDDEN)).toBe(true);
  }
});

it("keeps a log-probability whose probability would underflow", async () => {
  const logits = Float32Array.from({ length: FEW }, (_, i) => (i === 0 ? 0 : -2 - (i % 3)));
  const [result] = await notify(logits, [fieldsOf({ temperature: 0.01 })]);
  expectClose(
    result?.row ?? [],
    logits.map((logit) => 100 * logit),
    1e-4,
  );
});

it("writes nothing if no sample wants its most likely tokens", async () => {
  const processed = randomFloats(FEW, 4, 5);
  const [result] = await notify(randomFloats(FEW, 5), [{ ...fieldsOf({ topK: 4 }), num_top: 0, flags: PROCESSED }], {
    processed,
  });
  expect(result?.row).toEqual(processed);
  expect(result?.logprob).toBeCloseTo(processedLogprobs(processed, { topK: 4 })[result?.token ?? -1] ?? NaN, 5);
});

it("leaves a beam's processed log-probabilities unchanged", async () => {
  const processed = randomFloats(FEW, 4, 5);
  const [result] = await notify(randomFloats(FEW, 5), [{ temperature: 0, flags: PROCESSED + NORMALISED }], {
    processed,
  });
  expect(result?.row).toEqual(processed);
  expect(result?.top[0]?.logprob).toBe(Math.max(...processed));
});

it("tells the likeliest beside a scored token under the raw logits", async () => {
  const logits = randomFloats(FEW, 5);
  const scored = { temperature: 0, flags: SCORED + PLAIN, scored_token: 17 };
  const [[result], [raw]] = [await notify(logits, [scored]), await notify(logits, [scored], { isProcessed: false })];
  expect(result?.top).toEqual(raw?.top);
  const highest = Math.max(...logits);
  expect(result?.top[0]?.token).toBe(logits.indexOf(highest));
  expect(result?.top[0]?.logprob).toBeCloseTo(Math.log(Math.max(...softmax(logits))), 5);
});
