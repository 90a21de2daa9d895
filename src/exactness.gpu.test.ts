// The strongest test there is: whatever happens around a request, it gets the same tokens and log-probabilities, to the
// last bit. alone = batched = chunked = preempted = prefix-hit = run-ahead = speculative, however its weights are kept.

import { describe, expect, it } from "vitest";

import { createEngine, type ChorusEngine, type CompletionRequest, type CreateEngineOptions } from "./index.ts";
import { tuningKey } from "./backends/gpu/matmul-tuning.ts";
import { usualMatmuls } from "./backends/gpu/matmul-variants.ts";
import { loadGolden } from "./testing/golden.ts";
import { PRETENDED_ADAPTER, tampered } from "./testing/gpu.ts";
import { withOneDevice } from "./testing/one-device.ts";
import { indexedDbTuningStore } from "./host/platforms/tuning-store.ts";

type Request = CompletionRequest & { stream?: false };

/** Deterministic and without a pattern. */
function mixed(a: number, b: number): number {
  return (Math.imul(a * 31 + b + 7, 0x9e3779b1) >>> 8) % 511;
}

/** Some requests have rules that look at the text so far, beside others that have none. */
const RULES: Partial<Request>[] = [
  {},
  { frequency_penalty: 0.4, min_p: 0.02, logit_bias: { 5: 2, 138: -3 } },
  {},
  { repetition_penalty: 1.2, presence_penalty: 0.5, no_repeat_ngram_size: 4 },
];

// Half of them begin with the same 40 tokens, as panes with one system prompt do.
const REQUESTS: Request[] = Array.from({ length: 10 }, (_, i) => ({
  prompt: Array.from({ length: i % 2 === 0 ? 41 + 3 * i : 1 + 6 * i }, (_unused, position) =>
    mixed(i % 2 === 0 && position < 40 ? 0 : i + 1, position),
  ),
  max_tokens: 20 + ((i * 5) % 17),
  ignore_eos: true,
  return_token_ids: true,
  logprobs: 0,
  temperature: i % 3 === 0 ? 0 : 0.9,
  top_k: i % 3 === 1 ? 20 : 0,
  top_p: i % 3 === 2 ? 0.9 : 1,
  seed: 77 * i,
  ...RULES[i % RULES.length],
}));

async function run(engine: ChorusEngine, request: Request): Promise<unknown> {
  const { choices } = await engine.completions.create(request);
  return choices.map(({ token_ids, logprobs, finish_reason }) => [token_ids, logprobs?.token_logprobs, finish_reason]);
}

async function oneAfterTheOther(options: CreateEngineOptions): Promise<unknown[]> {
  await using engine = await createEngine(options);
  const answers = [];
  for (const request of REQUESTS) answers.push(await run(engine, request));
  return answers;
}

/** They arrive a few at a time, at moments that only the machine knows. */
async function together(engine: ChorusEngine): Promise<unknown[]> {
  return Promise.all(
    REQUESTS.map(async (request, i) => {
      await new Promise((resolve) => setTimeout(resolve, 12 * Math.floor(i / 3)));
      return run(engine, request);
    }),
  );
}

interface Circumstance {
  name: string;
  config: Partial<CreateEngineOptions>;
  /** What must have happened for the comparison to mean something. */
  happened: (stats: Awaited<ReturnType<ChorusEngine["stats"]>>) => boolean;
}

const shared = (stats: { step_sequences_total: number; engine_steps_total: number }) =>
  stats.step_sequences_total > 2 * stats.engine_steps_total;

const CIRCUMSTANCES: Circumstance[] = [
  { name: "batched, step by step", config: { runAhead: 0, enablePrefixCaching: false }, happened: shared },
  {
    name: "in chunks of 7, four steps ahead",
    config: {
      runAhead: 4,
      maxNumBatchedTokens: 16,
      maxNumSeqs: 16,
      longPrefillTokenThreshold: 7,
      enablePrefixCaching: false,
    },
    happened: shared,
  },
  {
    name: "preempted",
    config: { runAhead: 2, maxNumBatchedTokens: 64, maxNumSeqs: 10, numGpuBlocks: 14, enablePrefixCaching: false },
    happened: (stats) => stats.num_preemptions_total > 0,
  },
  {
    name: "found in the prefix cache, and preempted",
    config: {
      runAhead: 3,
      maxNumBatchedTokens: 50,
      maxNumSeqs: 10,
      numGpuBlocks: 10,
      schedulingPolicy: "shortest-remaining",
    },
    happened: (stats) => stats.prefix_cache_hits > 0 && stats.num_preemptions_total > 0,
  },
  {
    name: "with drafts that are sometimes right",
    config: { runAhead: 2, speculation: { method: "ngram", numTokens: 3, minMatch: 1 }, enablePrefixCaching: false },
    happened: ({ spec_decode_num_draft_tokens_total: drafted, spec_decode_num_accepted_tokens_total: accepted }) =>
      accepted > 0 && accepted < drafted,
  },
];

const DTYPES = [
  { dtype: "f32", kvCacheDtype: "f32" },
  { dtype: "f16", kvCacheDtype: "f16" },
  { dtype: "q8", kvCacheDtype: "f16" },
  { dtype: "q4", kvCacheDtype: "f32" },
] as const;

const oneDevice = await withOneDevice();

describe.each(DTYPES)("in $dtype with a cache in $kvCacheDtype", async (dtypes) => {
  const base = { model: "/fixtures/gpt2-tiny/", worker: false, gpu: oneDevice, ...dtypes };
  const alone = await oneAfterTheOther({ ...base, runAhead: 0, enablePrefixCaching: false });

  it.each(CIRCUMSTANCES)("a request is what it is alone: $name", async ({ config, happened }) => {
    await using engine = await createEngine({ ...base, ...config });
    expect(await together(engine)).toEqual(alone);
    // Again, when the cache knows what there is to know; and again, until what the name says has happened.
    let stats = await engine.stats();
    for (let i = 0; i < 1 || (i < 6 && !happened(stats)); i++) {
      expect(await together(engine)).toEqual(alone);
      stats = await engine.stats();
    }
    expect(happened(stats), JSON.stringify(stats)).toBe(true);
    expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
  });
});

describe("with the kernels of real GPUs", () => {
  it("a request is what it is alone, whichever kernel the step's rows choose", async () => {
    const gpu = tampered({ pretendHardware: true });
    const base = { model: "/fixtures/gpt2-tiny/", worker: false, gpu, dtype: "f32" } as const;
    // Measuring them all, which a test of its own does, takes a software adapter half a minute.
    const usual = usualMatmuls({ isSoftware: false, hasSubgroups: true }).map(({ name }) => name);
    const { model } = (await loadGolden("gpt2-tiny")).weights;
    await indexedDbTuningStore().save(tuningKey(PRETENDED_ADAPTER, model, base.dtype), usual);
    await using engine = await createEngine({ ...base, maxNumBatchedTokens: 70, numGpuBlocks: 30 });
    const alone = [];
    for (const request of REQUESTS) alone.push(await run(engine, request));
    expect(await together(engine)).toEqual(alone);
    const stats = await engine.stats();
    expect(shared(stats) || stats.prefix_cache_hits > 0).toBe(true);
  });
});

it("choices of one request share their prompt's blocks, and are what each is alone", async () => {
  await using engine = await createEngine({ model: "/fixtures/gpt2-tiny/" });
  const prompt = Array.from({ length: 50 }, (_, i) => mixed(3, i));
  const request: Request = { prompt, max_tokens: 12, seed: 5, ignore_eos: true, return_token_ids: true, logprobs: 0 };
  const answers = (await run(engine, { ...request, n: 4 })) as unknown[];
  expect((await engine.stats()).prefix_cache_hits).toBe(3 * 48);
  for (const [i, answer] of answers.entries()) expect(await run(engine, { ...request, seed: 5 + i })).toEqual([answer]);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(4);
});

it("a step is one submit, and nothing is created on the way but its command encoder", async () => {
  const calls: string[] = [];
  const gpu = tampered({ onCall: (name) => calls.push(name) });
  await using engine = await createEngine({
    model: "/fixtures/gpt2-tiny/",
    worker: false,
    gpu,
    maxNumBatchedTokens: 32,
  });
  calls.length = 0;
  await together(engine);
  const { engine_steps_total: steps } = await engine.stats();
  const count = (name: string) => calls.filter((call) => call === name).length;
  expect(new Set(calls.filter((name) => name.startsWith("create")))).toEqual(new Set(["createCommandEncoder"]));
  expect([count("createCommandEncoder"), count("submit")]).toEqual([steps, steps]);
  // The step, and now and then the block tables.
  expect(count("writeBuffer")).toBeGreaterThanOrEqual(steps);
  expect(count("writeBuffer")).toBeLessThanOrEqual(2 * steps);
});
