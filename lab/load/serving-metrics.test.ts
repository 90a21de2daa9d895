import { expect, it } from "vitest";

import type { StepReport } from "../../src/protocol/reports.ts";
import { e2elMs, itlsMs, servingMetrics, tpotMs, ttftMs, type RequestRecord } from "./serving-metrics.ts";
import { servingReport } from "./serving-report.ts";

const record = (changes: Partial<RequestRecord> = {}): RequestRecord => ({
  promptTokens: 10,
  sentMs: 100,
  // Five tokens, two of them in one chunk.
  chunks: [
    { atMs: 150, tokens: 1 },
    { atMs: 170, tokens: 2 },
    { atMs: 200, tokens: 1 },
    { atMs: 230, tokens: 1 },
  ],
  error: null,
  ...changes,
});

it("the latencies of a request are vLLM's", () => {
  expect(ttftMs(record())).toBe(50);
  expect(e2elMs(record())).toBe(130);
  // Gaps between streamed outputs, however many tokens they bring.
  expect(itlsMs(record())).toEqual([20, 30, 30]);
  // (E2EL - TTFT) / (tokens - 1)
  expect(tpotMs(record())).toBe(20);
});

it("a single token has no time per output token, and doesn't count in it", () => {
  const single = record({ chunks: [{ atMs: 160, tokens: 1 }] });
  expect(tpotMs(single)).toBeNull();
  expect(metricsOf([record(), single]).mean_tpot_ms).toBe(20);
});

const step = (sequences: number, stepMs: number) =>
  ({ entries: Array.from({ length: sequences }), stepMs }) as unknown as StepReport;

function metricsOf(records: readonly RequestRecord[]) {
  const steps = [step(1, 10), step(2, 20), step(3, 60)];
  return servingMetrics({ requestRate: 4, maxConcurrency: null, durationMs: 2000, records, steps });
}

it("counts what succeeded, and tells what failed", () => {
  const late = record({ sentMs: 1120, chunks: [{ atMs: 1150, tokens: 1 }] });
  const metrics = metricsOf([record(), late, record({ chunks: [], error: "queue_full" })]);
  expect(metrics).toMatchObject({
    duration: 2,
    completed: 2,
    failed: 1,
    errors: ["queue_full"],
    total_input_tokens: 20,
    total_output_tokens: 6,
    request_rate: 4,
    request_throughput: 1,
    output_throughput: 3,
    total_token_throughput: 13,
    max_output_tokens_per_s: 5,
    max_concurrent_requests: 1,
    mean_ttft_ms: 40,
    median_ttft_ms: 40,
    p95_itl_ms: 30,
    batch_occupancy: 2,
  });
  expect(metrics.p99_ttft_ms).toBeCloseTo(49.8, 9);
});

it("requests that are open at the same time count as such; one that begins as another ends does not", () => {
  const [a, b, c] = [record(), record({ sentMs: 140 }), record({ sentMs: 230 })];
  expect(metricsOf([a, b]).max_concurrent_requests).toBe(2);
  expect(metricsOf([a, c]).max_concurrent_requests).toBe(1);
});

it("prints vLLM's block: fifty wide, each label forty, two decimals", () => {
  const lines = servingReport(metricsOf([record()])).split("\n");
  expect(lines[0]).toBe("============ Serving Benchmark Result ============");
  expect(lines.at(-1)).toBe("=".repeat(50));
  expect(lines).toContain("Successful requests:                     1");
  expect(lines).toContain("Request rate configured (RPS):           4.00");
  expect(lines).toContain("Mean TTFT (ms):                          50.00");
  expect(lines).toContain("P99 ITL (ms):                            30.00");
  expect(lines).toContain("-----Time per Output Token (excl. 1st token)------");
  expect(lines.filter((line) => line.length > 50)).toEqual([]);
});
