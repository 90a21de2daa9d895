// The library as its users have it: an engine in a worker, asked through OpenAI's shapes.

import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { createEngine, ChorusError, type ChorusEngine, type CompletionRequest } from "../../src/index.ts";
import { loadGolden, type GoldenPrompt } from "../models/golden.ts";
import { withCommonDevice } from "../gpu/one-device.ts";

const golden = await loadGolden("gpt2-tiny");
// Code above the backends needs no kernels, which a software adapter compiles for seconds.
const TINY = { backend: "cpu", model: "/tests/fixtures/gpt2-tiny/", dtype: "f32", kvCacheDtype: "f32" } as const;
const onGpu = { backend: "webgpu", worker: false, gpu: await withCommonDevice() } as const;

/** Golden runs go past any end of text. */
function greedy(prompt: GoldenPrompt, maxTokens = prompt.greedy.tokens.length): CompletionRequest & { stream?: false } {
  return { prompt: prompt.ids, temperature: 0, max_tokens: maxTokens, ignore_eos: true, return_token_ids: true };
}

async function tokensOf(engine: ChorusEngine, body: CompletionRequest & { stream?: false }): Promise<number[]> {
  const { choices } = await engine.completions.create(body);
  return choices[0]?.token_ids ?? [];
}

async function rejection(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => "it resolved",
    (error: unknown) => error,
  );
}

/** In a worker, for all tests that need no other. */
const onCpu = await createEngine(TINY);
afterAll(() => onCpu.dispose());

/** Has the engine begin once `count` requests wait: a quick one would be done with the first before the others arrive. */
async function beganTogether<Answers>(engine: ChorusEngine, count: number, ask: () => Answers): Promise<Answers> {
  await engine.update({ batchingMode: "static", batchWindowMs: 60_000 });
  const answers = ask();
  await expect.poll(async () => (await engine.stats()).num_requests_waiting).toBe(count);
  await engine.update({ batchingMode: null, batchWindowMs: null });
  return answers;
}

// auto-backend.gpu.test.ts has an engine on the CPU in the page, and e2e/chat.spec.ts one on a GPU in a worker.
describe.each([
  { where: "webgpu, in the page", open: () => createEngine({ ...TINY, ...onGpu }) },
  { where: "cpu, in a worker", open: () => Promise.resolve(onCpu) },
])("an engine on $where", ({ open }) => {
  let engine: ChorusEngine;
  beforeAll(async () => {
    engine = await open();
  });
  afterAll(() => (engine === onCpu ? undefined : engine.dispose()));

  it.each(golden.prompts)("gives Hugging Face's greedy tokens after $name", async (prompt) => {
    expect(await tokensOf(engine, greedy(prompt))).toEqual(prompt.greedy.tokens);
  });

  it("serves all of them at once, in fewer steps than one after the other", async () => {
    const before = await engine.stats();
    const ask = () => Promise.all(golden.prompts.map((prompt) => tokensOf(engine, greedy(prompt))));
    const answers = await beganTogether(engine, golden.prompts.length, ask);
    expect(answers).toEqual(golden.prompts.map((prompt) => prompt.greedy.tokens));
    const after = await engine.stats();
    const steps = after.engine_steps_total - before.engine_steps_total;
    const sequences = after.step_sequences_total - before.step_sequences_total;
    expect(sequences / steps).toBeGreaterThan(2);
    expect(after.num_gpu_blocks_free).toBe(after.num_gpu_blocks);
  });
});

describe("a request's own id", () => {
  it("is part of the answer's, and no other open request may have it", async () => {
    const engine = onCpu;
    // Long enough to be open still when the other one's text is tokens.
    const body = { prompt: "Once", max_tokens: 120, ignore_eos: true, request_id: "mine" };
    const first = engine.completions.create(body);
    expect(await rejection(engine.completions.create(body))).toMatchObject({
      code: "invalid_value",
      param: "request_id",
    });
    expect((await first).id).toBe("cmpl-mine");
    expect((await engine.completions.create(body)).id).toBe("cmpl-mine");
  });
});

describe("a prompt's log-probabilities", () => {
  it.each(["webgpu", "cpu"])(
    "are those its tokens had when they were drawn, in chunks and beside others, on %s",
    async (backend) => {
      await using ownEngine = backend === "cpu" ? null : await createEngine({ ...TINY, ...onGpu });
      const engine = ownEngine ?? onCpu;
      await engine.update({ maxNumBatchedTokens: 24 });
      const [{ ids } = { ids: [] }] = golden.prompts.slice(3);
      const requested = { prompt: ids, max_tokens: 30, ignore_eos: true, return_token_ids: true, logprobs: 2, seed: 5 };
      const { choices } = await engine.completions.create(requested);
      const answer = choices[0]?.token_ids ?? [];
      const echo = { prompt: [...ids, ...answer], max_tokens: 1, echo: true, logprobs: 2, prompt_logprobs: 0 };
      const [echoed] = await Promise.all([
        engine.completions.create(echo),
        ...golden.prompts.map((prompt) => tokensOf(engine, greedy(prompt))),
      ]);
      const { logprobs, prompt_logprobs: reported } = echoed.choices[0] ?? {};
      expect(logprobs?.token_logprobs).toHaveLength(ids.length + answer.length + 1);
      expect(logprobs?.token_logprobs[0]).toBeNull();
      const end = ids.length + answer.length;
      expect(logprobs?.token_logprobs.slice(ids.length, end)).toEqual(choices[0]?.logprobs?.token_logprobs);
      expect(logprobs?.top_logprobs?.slice(ids.length, end)).toEqual(choices[0]?.logprobs?.top_logprobs);
      expect(reported?.[0]).toBeNull();
      expect(reported?.slice(1).map((entry) => Object.values(entry ?? {})[0]?.logprob)).toEqual(
        logprobs?.token_logprobs.slice(1, end),
      );
      const alone = await engine.completions.create({ ...echo, max_tokens: 0, return_token_ids: true });
      expect(alone.choices[0]).toMatchObject({ finish_reason: "length", token_ids: [] });
      expect(alone.choices[0]?.logprobs?.token_logprobs).toEqual(logprobs?.token_logprobs.slice(0, end));
      expect(alone.usage).toMatchObject({ prompt_tokens: end, completion_tokens: 0, total_tokens: end });
      const stats = await engine.stats();
      expect(stats.num_gpu_blocks_free).toBe(stats.num_gpu_blocks);
      await engine.update({ maxNumBatchedTokens: null });
    },
  );
});

describe("streams", () => {
  const engine = onCpu;
  const [, , prompt] = golden.prompts;
  if (!prompt) throw new Error("no prompt in the fixture");

  it("give in pieces what a response gives whole", async () => {
    const whole = await engine.completions.create(greedy(prompt));
    let text = "";
    const ids: number[] = [];
    let last;
    for await (const chunk of await engine.completions.create({
      ...greedy(prompt),
      stream: true,
      stream_options: { include_usage: true },
    })) {
      for (const choice of chunk.choices) {
        text += choice.text;
        ids.push(...(choice.token_ids ?? []));
        last = choice.finish_reason;
      }
      if (chunk.usage) expect(chunk.usage).toEqual(whole.usage);
    }
    expect({ text, ids, last }).toEqual({ text: whole.choices[0]?.text, ids: prompt.greedy.tokens, last: "length" });
  });

  it("end their request when the reader leaves the loop", async () => {
    // A quick thread may have written all of an answer before it hears that its reader has left.
    const numAbortedOnceLeft = async () => {
      for await (const chunk of await engine.completions.create({ ...greedy(prompt, 100), stream: true })) {
        expect(chunk.choices).toHaveLength(1);
        break;
      }
      return (await engine.stats()).request_success_total.abort;
    };
    await expect.poll(numAbortedOnceLeft).toBeGreaterThan(0);
    await expect.poll(async () => (await engine.stats()).num_requests_running).toBe(0);
  });

  it("end with the signal's reason, and leave the others alone", async () => {
    const controller = new AbortController();
    const other = tokensOf(engine, greedy(prompt));
    const stream = await engine.completions.create(
      { ...greedy(prompt, 100), stream: true },
      { signal: controller.signal },
    );
    const reading = (async () => {
      for await (const _ of stream) controller.abort(new Error("enough"));
    })();
    expect(await rejection(reading)).toEqual(new Error("enough"));
    expect(await other).toEqual(prompt.greedy.tokens);
  });

  it("are refused before the first chunk where the request is bad", async () => {
    const error = await rejection(engine.completions.create({ prompt: "a", top_p: 7, stream: true }));
    expect(error).toBeInstanceOf(ChorusError);
    expect(error).toMatchObject({ code: "invalid_value", param: "top_p" });
  });
});

describe("what goes wrong", () => {
  it.each([
    [
      "an unknown config field",
      { ...TINY, worker: false, maxSeqs: 3 },
      { code: "unknown_parameter", param: "maxSeqs" },
    ],
    [
      "a folder that is not there",
      { model: "/tests/fixtures/nothing-here/", worker: false },
      { code: "model_not_found" },
    ],
    ["a gpu for a worker", { ...TINY, gpu: navigator.gpu }, { code: "invalid_value", param: "gpu" }],
  ])("%s is a typed error", async (_, options, expected) => {
    const error = await rejection(createEngine(options));
    expect(error).toBeInstanceOf(ChorusError);
    expect(error).toMatchObject(expected);
  });

  it("a page without WebGPU gets an error before anything is downloaded", async () => {
    const error = await rejection(
      createEngine({ ...TINY, ...onGpu, gpu: { requestAdapter: () => Promise.resolve(null) } as unknown as GPU }),
    );
    expect(error).toMatchObject({ code: "webgpu_unavailable" });
  });

  it("one bad request among good ones costs nobody else anything", async () => {
    const engine = onCpu;
    const [first] = golden.prompts;
    if (!first) throw new Error("no prompt in the fixture");
    const good = tokensOf(engine, greedy(first));
    const bad = await Promise.all(
      [
        { prompt: [] },
        { prompt: [512] },
        { prompt: Array.from({ length: 128 }, () => 1) },
        { prompt: [1], max_tokens: 128 },
        { prompt: [1], wibble: true },
        { prompt: [1], user: (() => 1) as unknown as string },
      ].map((body) => rejection(engine.completions.create(body as CompletionRequest & { stream?: false }))),
    );
    for (const error of bad) expect(error).toBeInstanceOf(ChorusError);
    expect(bad.map((error) => (error as ChorusError).code)).toEqual([
      "invalid_value",
      "invalid_value",
      "context_length_exceeded",
      "context_length_exceeded",
      "unknown_parameter",
      "invalid_type",
    ]);
    expect(await good).toEqual(first.greedy.tokens);
  });

  it("a page that may share nothing has a worker of its own", async () => {
    const Original = globalThis.SharedWorker;
    // As Chromium does where site data is blocked.
    globalThis.SharedWorker = class extends EventTarget {
      readonly port = new MessageChannel().port1;
      readonly onerror = null;
      constructor() {
        super();
        setTimeout(() => this.dispatchEvent(new Event("error")), 0);
      }
    };
    const shared = createEngine({ ...TINY, cpuThreads: 1, worker: "shared" });
    await using engine = await shared.finally(() => (globalThis.SharedWorker = Original));
    const { choices } = await engine.completions.create({ prompt: [1, 2], max_tokens: 2, ignore_eos: true });
    expect(choices).toHaveLength(1);
  });

  // The last of them all, since it ends the engine.
  it("dispose() rejects what is open, and every call after it", async () => {
    const engine = onCpu;
    const open = rejection(engine.completions.create({ prompt: [1], max_tokens: 100, ignore_eos: true }));
    await engine.dispose();
    await engine.dispose();
    expect(await open).toMatchObject({ code: "engine_disposed" });
    expect(await rejection(engine.completions.create({ prompt: [1] }))).toMatchObject({ code: "engine_disposed" });
    expect(await rejection(engine.stats())).toMatchObject({ code: "engine_disposed" });
  });
});
