import { expect, test } from "vitest";

import { sampleEntry, sampleRequest, sampleStep } from "../../../tests/requests/sample-reports.ts";
import { RequestFigures } from "./request-figures.ts";

const beside = (numOthers: number) => Array.from({ length: numOthers }, (_, i) => sampleEntry(`other ${i}`));

/** Gives a choice its share of a step, beside others. */
function step(
  figures: RequestFigures,
  number: number,
  atMs: number,
  { choice = 0, numOthers = 0, ...entry }: Partial<ReturnType<typeof sampleEntry>> & Record<string, unknown> = {},
): void {
  const own = sampleEntry("a", { index: Number(choice), ...entry });
  const report = sampleStep({ step: number, atMs, entries: [own, ...beside(Number(numOthers))] });
  figures.observeStep(Number(choice), own, report);
}

test("a request's times, tokens, steps and neighbours", () => {
  const figures = new RequestFigures(1);
  step(figures, 1, 140, { promptRows: 8, sampled: false, numOthers: 3 });
  step(figures, 2, 150, { promptRows: 4 });
  step(figures, 3, 160, { numOthers: 1 });
  step(figures, 5, 190);
  figures.observeRequest(
    0,
    sampleRequest("a", {
      status: "finished",
      outputTokens: 3,
      cachedTokens: 16,
      numPreemptions: 1,
      arrivalMs: 100,
      scheduledMs: 130,
      firstTokenMs: 150,
      finishedMs: 200,
    }),
  );
  expect(figures.metrics(1)).toEqual({
    queue_time_ms: 30,
    time_to_first_token_ms: 50,
    prefill_time_ms: 20,
    generation_time_ms: 40,
    total_time_ms: 100,
    mean_itl_ms: 20,
    p95_itl_ms: 30,
    tokens_per_second: 50,
    num_steps: 4,
    mean_batch_size: 2,
    max_batch_size: 4,
    num_preemptions: 1,
    cached_tokens: 16,
    speculative_decoding: null,
  });
});

test("tokens of one step share its time, so that the mean is that of all tokens", () => {
  const figures = new RequestFigures(1);
  step(figures, 1, 100);
  step(figures, 2, 140, { drafted: 3, accepted: 3 });
  step(figures, 3, 150, { drafted: 3 });
  const drafts = { draftTokens: 6, acceptedTokens: 3, outputTokens: 6, firstTokenMs: 100, finishedMs: 150 };
  figures.observeRequest(0, sampleRequest("a", { status: "finished", ...drafts }));
  expect(figures.metrics(1)).toMatchObject({
    generation_time_ms: 50,
    mean_itl_ms: 10,
    p95_itl_ms: 10,
    speculative_decoding: { num_draft_tokens: 6, num_accepted_draft_tokens: 3, draft_acceptance_rate: 0.5 },
  });
});

test("what never happened is null: a request that is aborted in the queue, or has one token", () => {
  const waiting = new RequestFigures(1);
  waiting.observeRequest(0, sampleRequest("a", { status: "finished", arrivalMs: 10, finishedMs: 30 }));
  const nothing = {
    queue_time_ms: null,
    time_to_first_token_ms: null,
    prefill_time_ms: null,
    generation_time_ms: null,
    mean_itl_ms: null,
    p95_itl_ms: null,
    tokens_per_second: null,
    mean_batch_size: null,
  };
  expect(waiting.metrics(1)).toMatchObject({ ...nothing, total_time_ms: 20, num_steps: 0, max_batch_size: 0 });
  const single = new RequestFigures(1);
  step(single, 1, 100);
  expect(single.metrics(1)).toMatchObject({ mean_itl_ms: null, p95_itl_ms: null, num_steps: 1 });
});

test("several choices: each has its own figures; the request's go from the first to the last, and its steps count once", () => {
  const figures = new RequestFigures(2);
  for (const choice of [0, 1]) step(figures, 1, 100, { choice, numOthers: 1 });
  for (const choice of [0, 1]) step(figures, 2, 110, { choice, numOthers: 1 });
  step(figures, 3, 150, { choice: 1 });
  const times = { status: "finished", arrivalMs: 0, cachedTokens: 16 } as const;
  const first = { scheduledMs: 50, firstTokenMs: 100, finishedMs: 110, outputTokens: 2 };
  figures.observeRequest(0, sampleRequest("a", { ...times, ...first }));
  figures.observeRequest(
    1,
    sampleRequest("a", { ...times, ...first, scheduledMs: 60, finishedMs: 150, outputTokens: 3 }),
  );
  expect(figures.metricsOf(0)).toMatchObject({ queue_time_ms: 50, total_time_ms: 110, num_steps: 2, mean_itl_ms: 10 });
  expect(figures.metricsOf(1)).toMatchObject({ queue_time_ms: 60, total_time_ms: 150, num_steps: 3, mean_itl_ms: 25 });
  const all = figures.metrics(1);
  expect(all).toMatchObject({
    queue_time_ms: 50,
    total_time_ms: 150,
    num_steps: 3,
    mean_itl_ms: 20,
    cached_tokens: 32,
  });
  expect(all).toMatchObject({ tokens_per_second: 50, max_batch_size: 2 });
  expect(all).not.toHaveProperty("prompt_list");
  expect(figures.metrics(2).prompt_list).toEqual({
    num_prompts: 2,
    total_time_s: 0.15,
    time_per_prompt_s: 0.075,
    tokens_per_second: 5 / 0.15,
  });
});
