import { expect, it } from "vitest";

import type { StepReport } from "../../src/protocol/reports.ts";
import { comparedWith, loadCell } from "./load-cell.ts";
import type { LoadRun, RequestRecord } from "./serving-metrics.ts";

const SETUP = {
  batching_mode: "continuous",
  batch_size: 4,
  concurrency: 8,
  batch_window_ms: null,
  drafts: "off",
} as const;

/** An answer of three tokens. */
const record = (firstMs: number, restMs: number, error: string | null = null): RequestRecord => ({
  promptTokens: 5,
  sentMs: 0,
  chunks: [
    { atMs: firstMs, tokens: 1 },
    { atMs: firstMs + restMs, tokens: 2 },
  ],
  error,
});

const step = (drafted: number, accepted: number) =>
  ({ stepMs: 1, entries: [{ drafted, accepted }] }) as unknown as StepReport;

const run = (durationMs: number, records: readonly RequestRecord[], steps: readonly StepReport[] = []): LoadRun => ({
  requestRate: Infinity,
  maxConcurrency: 8,
  durationMs,
  records,
  steps,
});

it("has the median of each round's figures, percentiles taken within a round", () => {
  // The end-to-end latencies of a round are its number times 11, 21, ..., 101 ms.
  const round = (factor: number) =>
    run(
      1000 * factor,
      Array.from({ length: 10 }, (_, i) => record(factor, 10 * factor * (i + 1))),
    );
  const cell = loadCell(SETUP, [round(1), round(3), round(2)]);
  expect(cell).toMatchObject({ ...SETUP, rounds: 3, requests: 10, input_tokens: 50, output_tokens: 30 });
  expect(cell.wall_ms).toBe(2000);
  expect(cell.p50_e2el_ms).toBeCloseTo(2 * 56, 9);
  expect(cell.p95_e2el_ms).toBeCloseTo(2 * 96.5, 9);
  expect(cell.p50_ttft_ms).toBe(2);
  expect(cell.p50_itl_ms).toBeCloseTo(2 * 55, 9);
  expect(cell.p50_tpot_ms).toBeCloseTo(55, 9);
  expect(cell.output_tokens_per_s).toBe(15);
  // The rounds had 30, 15 and 10 tokens a second.
  expect(cell.spread).toBeCloseTo(10 / 15, 12);
  expect(cell).toMatchObject({ speed_up: null, efficiency: null, acceptance: null });
});

it("counts how many of the drafted tokens came, over all rounds", () => {
  const rounds = [[step(4, 3), step(0, 0)], [step(4, 0)]].map((steps) => run(10, [record(1, 1)], steps));
  expect(loadCell(SETUP, rounds).acceptance).toBe(3 / 8);
});

it("refuses a run in which a request failed", () => {
  expect(() => loadCell(SETUP, [run(10, [record(1, 1), record(1, 1, "queue_full")])])).toThrow(
    "A request failed: queue_full",
  );
});

it("compares wall times: the speed-up, and the efficiency of each place in the batch", () => {
  const oneByOne = loadCell({ ...SETUP, concurrency: 1 }, [run(900, [record(1, 1)])]);
  const cell = loadCell(SETUP, [run(300, [record(1, 1)])]);
  expect(comparedWith(oneByOne, cell)).toMatchObject({ wall_ms: 300, speed_up: 3, efficiency: 0.75 });
  expect(comparedWith(oneByOne, oneByOne)).toMatchObject({ speed_up: 1, efficiency: 0.25 });
  expect(comparedWith({ ...oneByOne, spread: 0.3 }, { ...cell, spread: 0.4 }).speed_up_spread).toBeCloseTo(0.5, 12);
});
