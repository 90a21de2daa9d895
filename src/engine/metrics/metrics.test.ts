import { expect, it } from "vitest";

import { sampleEntry, sampleRequest, sampleStep } from "../../../tests/requests/sample-reports.ts";
import { Metrics, type HistogramName } from "./metrics.ts";

const create = () => new Metrics({ maxModelLen: 256 });
const seen = (metrics: Metrics, name: HistogramName) => {
  const { count, sum } = metrics.histograms[name];
  return [count, Number(sum.toFixed(9))];
};
const sampledAt = (atMs: number, ...ids: string[]) => sampleStep({ atMs, entries: ids.map((id) => sampleEntry(id)) });

it("measures a request's life between its four stamps", () => {
  const metrics = create();
  const times = { arrivalMs: 1000, scheduledMs: 1400, firstTokenMs: 2000 };
  metrics.observeRequest(sampleRequest("a", { arrivalMs: 1000 }));
  metrics.observeRequest(sampleRequest("a", { ...times, status: "first-token", outputTokens: 1 }));
  metrics.observeRequest(
    sampleRequest("a", { ...times, status: "finished", finishedMs: 5000, promptTokens: 30, outputTokens: 7 }),
  );
  const expected: Partial<Record<HistogramName, number>> = {
    time_to_first_token_seconds: 1,
    e2e_request_latency_seconds: 4,
    request_queue_time_seconds: 0.4,
    request_prefill_time_seconds: 0.6,
    request_decode_time_seconds: 3,
    request_inference_time_seconds: 3.6,
    request_time_per_output_token_seconds: 0.5,
    request_prompt_tokens: 30,
    request_generation_tokens: 7,
  };
  for (const [name, sum] of Object.entries(expected)) {
    expect([name, ...seen(metrics, name as HistogramName)]).toEqual([name, 1, sum]);
  }
});

it("weights inter-token latency by token and time per output token by request", () => {
  const metrics = create();
  const first = { status: "first-token", firstTokenMs: 100, outputTokens: 1 } as const;
  metrics.observeStep(sampledAt(100, "long", "short"));
  for (const id of ["long", "short"]) metrics.observeRequest(sampleRequest(id, first));
  for (const atMs of [110, 120, 130, 140]) metrics.observeStep(sampledAt(atMs, "long"));
  metrics.observeStep(sampledAt(300, "short"));
  const finished = { ...first, status: "finished" } as const;
  metrics.observeRequest(sampleRequest("long", { ...finished, finishedMs: 140, outputTokens: 5 }));
  metrics.observeRequest(sampleRequest("short", { ...finished, finishedMs: 300, outputTokens: 2 }));
  expect(seen(metrics, "inter_token_latency_seconds")).toEqual([5, 0.24]);
  expect(seen(metrics, "request_time_per_output_token_seconds")).toEqual([2, 0.21]);
});

it("counts each token of a step with accepted drafts, with its share of the step's time", () => {
  const metrics = create();
  metrics.observeStep(sampledAt(100, "a"));
  metrics.observeRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 100, outputTokens: 1 }));
  metrics.observeStep(sampleStep({ atMs: 140, entries: [sampleEntry("a", { drafted: 4, accepted: 3 })] }));
  const { count, sum, bounds } = metrics.histograms.inter_token_latency_seconds;
  expect([count, sum]).toEqual([4, expect.closeTo(0.04, 9)]);
  expect(metrics.histograms.inter_token_latency_seconds.cumulativeCounts()[bounds.indexOf(0.01)]).toBe(4);
});

it("counts a preemption while a sequence speaks as one long gap", () => {
  const metrics = create();
  metrics.observeStep(sampledAt(100, "a"));
  metrics.observeRequest(sampleRequest("a", { status: "first-token", firstTokenMs: 100, outputTokens: 1 }));
  // Its rows are computed again; only the last of them gives a token.
  metrics.observeStep(sampleStep({ atMs: 200, entries: [sampleEntry("a", { rows: 16, sampled: false })] }));
  metrics.observeStep(sampledAt(450, "a"));
  expect(seen(metrics, "inter_token_latency_seconds")).toEqual([1, 0.35]);
});

it("keeps the choices of a request apart, and forgets each when it ends", () => {
  const metrics = create();
  for (const index of [0, 1]) {
    metrics.observeRequest(
      sampleRequest("a", { index, status: "first-token", firstTokenMs: 100 * index, outputTokens: 1 }),
    );
  }
  metrics.observeStep(sampleStep({ atMs: 200, entries: [0, 1].map((index) => sampleEntry("a", { index })) }));
  expect(seen(metrics, "inter_token_latency_seconds")).toEqual([2, 0.3]);
  metrics.observeRequest(sampleRequest("a", { index: 0, status: "finished", firstTokenMs: 0, finishedMs: 200 }));
  // A step that was already under way when it ended.
  metrics.observeStep(sampledAt(900, "a"));
  expect(seen(metrics, "inter_token_latency_seconds")).toEqual([2, 0.3]);
});

it("leaves out what a sequence never came to: aborted in the queue, or of one token", () => {
  const metrics = create();
  const aborted = { status: "finished", finishedMs: 50, finishReason: "abort" } as const;
  metrics.observeRequest(sampleRequest("waiting", aborted));
  const single = { status: "finished", scheduledMs: 10, firstTokenMs: 20, finishedMs: 20, outputTokens: 1 } as const;
  metrics.observeRequest(sampleRequest("one token", single));
  expect(seen(metrics, "request_queue_time_seconds")).toEqual([1, 0.01]);
  expect(seen(metrics, "request_time_per_output_token_seconds")).toEqual([0, 0]);
  expect(seen(metrics, "e2e_request_latency_seconds")).toEqual([2, 0.07]);
});

it("tells of each step its rows, sequences and times; GPU time only where there is any", () => {
  const metrics = create();
  const entries = [sampleEntry("a"), sampleEntry("b", { rows: 16, promptRows: 16, sampled: false })];
  metrics.observeStep(sampleStep({ entries, stepMs: 20, cpuMs: 0.25, gpuMs: 15 }));
  metrics.observeStep(sampleStep({ entries, stepMs: 30, cpuMs: 0.25, gpuMs: null }));
  expect(seen(metrics, "iteration_tokens_total")).toEqual([2, 34]);
  expect(seen(metrics, "engine_step_sequences")).toEqual([2, 4]);
  expect(seen(metrics, "engine_step_seconds")).toEqual([2, 0.05]);
  expect(seen(metrics, "engine_step_cpu_seconds")).toEqual([2, 0.0005]);
  expect(seen(metrics, "engine_step_gpu_seconds")).toEqual([1, 0.015]);
});
