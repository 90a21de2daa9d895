import { afterAll, beforeAll, expect, test } from "vitest";

import type { ChatCompletion, Completion } from "../protocol/openai.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";

const CHAT = { messages: [{ role: "user", content: "Hello" }], max_tokens: 4, temperature: 0, ignore_eos: true };

let model: FakeModel;
beforeAll(async () => void (model = await openFakeModel({ maxNumSeqs: 2, numGpuBlocks: 64 })));
afterAll(() => model.engine.dispose());

const post = (path: string, body: object) =>
  model.engine.fetch(`http://chorus.test${path}`, { method: "POST", body: JSON.stringify(body) });

/** The data of server-sent events. */
const eventsOf = (text: string) => text.split("\n\n").flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);

test("an answer has its figures if they are wanted, whole or streamed", async () => {
  const figures = { num_steps: 4, mean_batch_size: 1, max_batch_size: 1, num_preemptions: 0 };
  const requested = { ...CHAT, include_metrics: true };
  const { metrics } = (await (await post("/v1/chat/completions", requested)).json()) as ChatCompletion;
  if (!metrics) throw new Error("no metrics");
  expect(metrics).toMatchObject(figures);
  const { queue_time_ms: queue, prefill_time_ms: prefill, generation_time_ms: decode, ...rest } = metrics;
  expect(rest.time_to_first_token_ms).toBeCloseTo((queue ?? NaN) + (prefill ?? NaN), 6);
  expect(rest.mean_itl_ms).toBeCloseTo((decode ?? NaN) / 3, 6);
  expect(rest.total_time_ms).toBeGreaterThanOrEqual((rest.time_to_first_token_ms ?? NaN) + (decode ?? NaN));
  for (const options of [{}, { stream_options: { include_usage: true } }]) {
    const streamed = await post("/v1/chat/completions", { ...requested, stream: true, ...options });
    const events = eventsOf(await streamed.text()).slice(0, -1);
    const chunks = events.map((event) => JSON.parse(event) as ChatCompletion);
    expect(chunks.at(-1)?.metrics).toMatchObject(figures);
    expect(chunks.filter((chunk) => chunk.metrics !== undefined)).toHaveLength(1);
  }
  expect(await (await post("/v1/chat/completions", CHAT)).json()).not.toHaveProperty("metrics");
  const response = await post("/v1/responses", { input: "Hello", max_output_tokens: 4, include_metrics: true });
  expect(((await response.json()) as ChatCompletion).metrics).toHaveProperty("time_to_first_token_ms");
});

test("an answer to a list of prompts has the figures of each, and the list's totals", async () => {
  const body = { prompt: ["A", "B", "C"], max_tokens: 2, temperature: 0, ignore_eos: true, include_metrics: true };
  for (const stream of [false, true]) {
    const text = await (await post("/v1/completions", { ...body, stream })).text();
    const parts = stream ? eventsOf(text).slice(0, -1) : [text];
    const answers = parts.map((part) => JSON.parse(part) as Completion);
    const list = answers.at(-1)?.metrics?.prompt_list;
    expect(list?.num_prompts).toBe(3);
    expect(list?.time_per_prompt_s).toBeCloseTo((list?.total_time_s ?? NaN) / 3, 6);
    expect(list?.tokens_per_second).toBeCloseTo(6 / (list?.total_time_s ?? NaN), 6);
    const own = answers.flatMap(({ choices }) => choices.flatMap(({ metrics }) => metrics ?? []));
    expect(own.map(({ num_steps: steps, prompt_list: totals }) => [steps, totals])).toEqual([
      [2, undefined],
      [2, undefined],
      [2, undefined],
    ]);
  }
});

test("the answers of a beam search share the figures of its steps", async () => {
  const beams = { ...CHAT, use_beam_search: true, n: 2, include_metrics: true };
  const { choices, metrics } = (await (await post("/v1/chat/completions", beams)).json()) as ChatCompletion;
  expect(choices.map((choice) => choice.metrics)).toEqual([
    expect.objectContaining({ num_steps: metrics?.num_steps, max_batch_size: 2 }),
    expect.objectContaining({ num_steps: metrics?.num_steps, max_batch_size: 2 }),
  ]);
  expect(metrics?.num_steps).toBeGreaterThanOrEqual(4);
});
