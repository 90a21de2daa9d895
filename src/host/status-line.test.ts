import { expect, it } from "vitest";

import type { EngineStats } from "../protocol/reports.ts";
import { SAMPLE_STATS, sampleStep } from "../../tests/requests/sample-reports.ts";
import { StatusLine } from "./status-line.ts";

/** An engine that generates 100 tokens per second in steps of a tenth of a second. */
function createWork() {
  const line = new StatusLine();
  let stats: EngineStats = { ...SAMPLE_STATS, prefix_cache_queries: 0, prefix_cache_hits: 0 };
  return (atMs: number, numRunning: number) => {
    const text = line.observe(sampleStep({ atMs, stepMs: 100, numRunning }), () => stats);
    stats = {
      ...stats,
      num_requests_running: numRunning,
      generation_tokens_total: stats.generation_tokens_total + 10,
      prompt_tokens_total: stats.prompt_tokens_total + 20,
      prefix_cache_queries: stats.prefix_cache_queries + 20,
      prefix_cache_hits: stats.prefix_cache_hits + 5,
    };
    return text;
  };
}

it("is written every five seconds of work, with the rates of that time", () => {
  const step = createWork();
  const lines = Array.from({ length: 120 }, (_, i) => step(100 * (i + 1), 3)).map((text, i) => [100 * (i + 1), text]);
  const reported = lines.filter(([, text]) => text !== null);
  expect(reported.map(([atMs]) => atMs)).toEqual([5000, 10_000]);
  expect(reported[1]?.[1]).toBe(
    "running 3, waiting 2; KV cache 25.0%; prompt 200.0 tok/s; generation 100.0 tok/s; prefix hits 25.0%",
  );
});

it("does not count the time between two pieces of work", () => {
  const step = createWork();
  expect(step(1000, 2)).toBeNull();
  expect(step(1100, 0)).toBeNull();
  expect(step(60_000, 2)).toBeNull();
  expect(step(64_800, 2)).toBeNull();
  expect(step(64_950, 2)).toContain("running 2");
});
