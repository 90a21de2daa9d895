// The strongest test there is: whatever happens around a request, it gets the same tokens and log-probabilities, to the
// last bit. alone = batched = chunked = preempted = prefix-hit = run-ahead = speculative, however its weights are kept. Each
// circumstance by itself, in every dtype and family, is tested on the CPU: backends/cpu/exactness.test.ts. Here all come at
// once, and a dtype has one family; kernels/matmul.gpu.test.ts holds all kernels of products to the same bits in each dtype,
// and weights that are packed in their file to the bits of their values. The kernels of real GPUs are tested in
// bare-adapter.gpu.test.ts.

import { afterEach, describe, expect, it, vi } from "vitest";

import { createEngine } from "../../src/index.ts";
import {
  ALL_AT_ONCE,
  andDrafts,
  answersAlone,
  answersTogether,
  answersUnder,
  CIRCUMSTANCES,
  FEW_AT_ONCE,
  mixed,
  run,
  STATES_AT_ONCE,
  WITH_DRAFTS,
  WITH_EVERY_RULE,
  withFewTokens,
  type Circumstance,
  type Request,
} from "../requests/exactness.ts";
import { withCommonDevice } from "../gpu/one-device.ts";
import { createComplete } from "../requests/create-complete.ts";
import { openTestDevice } from "../gpu/gpu.ts";

const CHANGING = CIRCUMSTANCES.filter(({ changes }) => changes);
const AND_WITH_DRAFTS: Circumstance = {
  name: `${ALL_AT_ONCE.name}, ${WITH_DRAFTS.name}`,
  config: { ...WITH_DRAFTS.config, ...ALL_AT_ONCE.config, enablePrefixCaching: true },
  happened: (stats) => ALL_AT_ONCE.happened(stats) && WITH_DRAFTS.happened(stats),
};
/** The first requests, among which some drafts of each model are right. */
const WITH_RIGHT_DRAFTS = 7;
const DRAFTING = { count: WITH_RIGHT_DRAFTS, circumstances: [AND_WITH_DRAFTS] };
const FEW = { count: WITH_EVERY_RULE, circumstances: [FEW_AT_ONCE] };

const MODELS = [
  { fixture: "gpt2-tiny/", dtype: "f32", kvCacheDtype: "f32", ...FEW, circumstances: [FEW_AT_ONCE, ...CHANGING] },
  { fixture: "gemma3-tiny/", dtype: "f16", kvCacheDtype: "f16", ...DRAFTING },
  { fixture: "families/lfm2/", dtype: "f32", kvCacheDtype: "f16", ...FEW },
  {
    fixture: "families/qwen35/",
    dtype: "f32",
    kvCacheDtype: "f16",
    ...DRAFTING,
    circumstances: [andDrafts(STATES_AT_ONCE)],
  },
  { fixture: "qwen3-tiny/", dtype: "q4", kvCacheDtype: "f32", ...FEW },
  {
    fixture: "gpt2-tiny/",
    dtype: "q8",
    activationDtype: "int8",
    kvCacheDtype: "f16",
    ...DRAFTING,
  },
] as const;

const oneDevice = await withCommonDevice();
const { device } = await openTestDevice();

afterEach(() => void vi.restoreAllMocks());

/** An engine with every kernel: a request alone is answered by those that are compiled first. */
const complete = withFewTokens((options) => createComplete(createEngine, options));
const create = withFewTokens(createEngine);

describe.each(MODELS)(
  "$fixture in $dtype with a cache in $kvCacheDtype",
  async ({ fixture, circumstances, count, ...dtypes }) => {
    const model = `/tests/fixtures/${fixture}`;
    const base = { backend: "webgpu", model, worker: false, gpu: oneDevice, ...dtypes } as const;
    const alone = await answersAlone(create, base, count);

    it.each(circumstances)("a request is what it is alone: $name", async (circumstance) => {
      const { rounds, hasHappened, stats } = await answersUnder(complete, base, circumstance, 1, count);
      for (const answers of rounds) expect(answers).toEqual(alone);
      expect(hasHappened, JSON.stringify(stats)).toBe(true);
      expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
    });
  },
);

it("choices of one request share their prompt's blocks, and are what each is alone", async () => {
  const model = "/tests/fixtures/gpt2-tiny/";
  const onCommonDevice = { backend: "webgpu", model, worker: false, gpu: oneDevice } as const;
  await using engine = await createEngine(onCommonDevice);
  const prompt = Array.from({ length: 50 }, (_, i) => mixed(3, i));
  const request: Request = { prompt, max_tokens: 12, seed: 5, ignore_eos: true, return_token_ids: true, logprobs: 0 };
  const answers = (await run(engine, { ...request, n: 4 })) as unknown[];
  expect((await engine.stats()).prefix_cache_hits).toBe(3 * 48);
  for (const [i, answer] of answers.entries()) expect(await run(engine, { ...request, seed: 5 + i })).toEqual([answer]);
  expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(4);
});

it("a step is one submit, and nothing is created on the way but its command encoder", async () => {
  const options = { model: "/tests/fixtures/gpt2-tiny/", gpu: oneDevice, maxNumBatchedTokens: 32 };
  await using engine = await createComplete(createEngine, options);
  const calls: Record<string, number> = {};
  for (const target of [device, device.queue]) {
    const methods = target as unknown as Record<string, (...args: unknown[]) => unknown>;
    for (const name of methodsOf(target)) {
      const method = methods[name]?.bind(target);
      vi.spyOn(methods, name).mockImplementation((...args) => {
        calls[name] = (calls[name] ?? 0) + 1;
        return method?.(...args);
      });
    }
  }
  await answersTogether(engine, 12, 3);
  vi.restoreAllMocks();
  const { engine_steps_total: steps } = await engine.stats();
  expect(Object.keys(calls).filter((name) => name.startsWith("create"))).toEqual(["createCommandEncoder"]);
  expect([calls.createCommandEncoder, calls.submit]).toEqual([steps, steps]);
  // The step, and now and then the block tables.
  expect(calls.writeBuffer).toBeGreaterThanOrEqual(steps);
  expect(calls.writeBuffer).toBeLessThanOrEqual(2 * steps);
});

function methodsOf(target: object): string[] {
  const methods = Object.entries(Object.getOwnPropertyDescriptors(Object.getPrototypeOf(target)));
  return methods.flatMap(([name, { value }]) => (typeof value === "function" && name !== "constructor" ? [name] : []));
}
