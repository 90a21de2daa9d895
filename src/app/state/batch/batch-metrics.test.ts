import { beforeEach, expect, it } from "vitest";
import type { StepReport } from "../../../protocol/reports.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { sampleEntry, sampleStep } from "../../../../tests/requests/sample-reports.ts";
import { BatchMetrics } from "./batch-metrics.ts";

let nowMs = 0;
let metrics: BatchMetrics;
beforeEach(() => {
  nowMs = 0;
  metrics = new BatchMetrics(() => nowMs);
});

const WORKER_AHEAD_MS = 7000;

function addStep(atMs: number, sequences: number, fields: Partial<StepReport> = {}): void {
  nowMs = atMs;
  const entries = Array.from({ length: sequences }, (_, index) => sampleEntry(`r${index}`));
  const workerMs = atMs + WORKER_AHEAD_MS;
  metrics.addStep(sampleStep({ step: atMs, atMs: workerMs, entries, kvBlocksUsed: 6, kvBlocksTotal: 16, ...fields }));
}

const read = () => {
  metrics.tick();
  return metrics.store.getState();
};

it("shows the batch and the tokens per second of the last two seconds", () => {
  for (let atMs = 10; atMs <= 4000; atMs += 10) addStep(atMs, 3);
  expect(read()).toMatchObject({ running: 3, kvUse: 0.375, step: 4000, tokensPerSecond: 300 });
});

it("shows how many slots, rows and cached tokens there are, and how busy the GPU is", () => {
  metrics.watch(new FakeEngine({ maxNumSeqs: 8 }));
  expect(read()).toMatchObject({ running: 0, slots: 8, rows: 0, rowBudget: 256, gpuUse: null });
  addStep(10, 2, { gpuMs: 4, numResidentTokens: 90 });
  expect(read()).toMatchObject({ running: 2, slots: 8, rows: 2, gpuUse: 0.4, residentTokens: 90 });
  addStep(20, 2, { gpuMs: 4, numRunning: 0 });
  expect(read()).toMatchObject({ rows: 0, gpuUse: 0, residentTokens: 0 });
});

it("comes to rest when nothing runs, but keeps the minute's peak and the number of steps", () => {
  addStep(10, 4);
  addStep(20, 1, { numRunning: 0, kvBlocksUsed: 0 });
  // At once: the last figures of a batch that is over say nothing about now.
  expect(read()).toMatchObject({ running: 0, tokensPerSecond: 0, peakSequences: 4, step: 20 });
  nowMs = 5000;
  nowMs = 61_000;
  expect(read().peakSequences).toBe(0);
});

it("asks the engine when steps stay away though something seemed to run", async () => {
  metrics.watch(new FakeEngine());
  addStep(10, 2);
  nowMs = 2000;
  expect(read().running).toBe(2);
  await Promise.resolve();
  await Promise.resolve();
  expect(read()).toMatchObject({ running: 0, tokensPerSecond: 0, kvUse: 0 });
});

it("does not touch the store when no figure changed", () => {
  addStep(10, 2);
  nowMs = 9000;
  metrics.watch(null);
  metrics.tick();
  const before = metrics.store.getState();
  metrics.tick();
  expect(metrics.store.getState()).toBe(before);
});

it("tells preemptions, and the share of prompt tokens that the prefix cache knew", () => {
  expect(read().prefixHits).toBeNull();
  addStep(10, 2, { preemptionsTotal: 3, prefixCacheQueriesTotal: 200, prefixCacheHitsTotal: 128 });
  expect(read()).toMatchObject({ preemptions: 3, prefixHits: 0.64 });
});
