import { readFileSync } from "node:fs";

import { describe, expect, it } from "vitest";

import { outputTokensOf } from "../load/request-record.ts";
import { servingMetrics } from "../load/serving-metrics.ts";
import { readRecording } from "../../src/recording/read-recording.ts";
import type { SchedulingPolicy } from "../../src/protocol/config.ts";
import { recordedLoad } from "./recorded-load.ts";
import { replayLoad, type Load, type LoadedRequest } from "./replay-load.ts";
import { seededLoad } from "./seeded-loads.ts";

const REQUEST: LoadedRequest = {
  arrivalMs: 0,
  promptTokens: 6,
  sharedTokens: 0,
  outputTokens: 4,
  maxTokens: 4,
  priority: 0,
};
const LOAD: Load = {
  name: "",
  requests: [REQUEST],
  config: { maxNumSeqs: 1 },
  stepTime: { baseMs: 10, perRowMs: 1, perAttendedMs: 0.1 },
};

async function metricsOf(load: Load, schedulingPolicy: SchedulingPolicy) {
  const replay = await replayLoad(load, { schedulingPolicy });
  return servingMetrics({ requestRate: Infinity, maxConcurrency: null, ...replay });
}

describe("a replayed load", () => {
  it("takes the time that its steps take", async () => {
    const { durationMs, records, steps } = await replayLoad(LOAD);
    // Six rows that attend to 1 + 2 + ... + 6 positions, then one row each.
    const stepsMs = [10 + 6 + 2.1, 10 + 1 + 0.7, 10 + 1 + 0.8, 10 + 1 + 0.9];
    expect(steps.map(({ stepMs }) => stepMs)).toEqual(stepsMs.map((ms) => expect.closeTo(ms, 9)));
    expect(records[0]?.chunks.map(({ tokens }) => tokens)).toEqual([1, 1, 1, 1]);
    expect(records[0]?.chunks[0]?.atMs).toBeCloseTo(18.1, 9);
    expect(durationMs).toBeCloseTo(53.5, 9);
  });

  it("gives each request its length, also one that ends before max_tokens", async () => {
    const requests = [3, 1, 20].map((outputTokens) => ({ ...REQUEST, outputTokens, maxTokens: 20 }));
    const { records, steps } = await replayLoad({ ...LOAD, requests });
    expect(records.map(outputTokensOf)).toEqual([3, 1, 20]);
    const reasons = steps.flatMap(({ entries }) => entries.flatMap(({ finishReason }) => finishReason ?? []));
    expect(reasons).toEqual(["stop", "stop", "length"]);
  });

  it("lets requests arrive when they do, and tells the longest wait", async () => {
    const requests = [1000, 0, 0].map((arrivalMs) => ({ ...REQUEST, arrivalMs }));
    const { durationMs, longestWaitMs, records } = await replayLoad({ ...LOAD, requests });
    expect(records.map(({ sentMs }) => sentMs)).toEqual([0, 0, 1000]);
    expect(longestWaitMs).toBeCloseTo(53.5, 9);
    expect(durationMs).toBeCloseTo(1053.5, 9);
  });

  it("computes a shared prefix once", async () => {
    const load = { ...LOAD, config: { maxNumSeqs: 1, blockSize: 2 } };
    const requests = [REQUEST, REQUEST].map((request) => ({ ...request, sharedTokens: 4 }));
    const { steps } = await replayLoad({ ...load, requests });
    expect(steps.map(({ rows }) => rows)).toEqual([6, 1, 1, 1, 2, 1, 1, 1]);
  });

  it("is the same each time, and its lengths are the same under every policy", async () => {
    const load = seededLoad("mixed lengths, small cache");
    const once = await replayLoad(load, { schedulingPolicy: "balanced" });
    expect(await replayLoad(load, { schedulingPolicy: "balanced" })).toEqual(once);
    expect(once.numPreemptions).toBeGreaterThan(0);
    const inOrder = load.requests.toSorted((a, b) => a.arrivalMs - b.arrivalMs);
    expect(once.records.map(outputTokensOf)).toEqual(inOrder.map(({ outputTokens }) => outputTokens));
  });
});

describe("a recorded run", () => {
  const text = readFileSync(new URL("../../tests/fixtures/runs/mixed.jsonl", import.meta.url), "utf8");
  const load = recordedLoad("mixed", readRecording(text));

  it("becomes a load: arrivals, lengths, limits and step time", () => {
    expect(load.requests).toHaveLength(48);
    expect(Math.min(...load.requests.map(({ arrivalMs }) => arrivalMs))).toBe(0);
    expect(load.config).toMatchObject({ maxNumSeqs: 4, numGpuBlocks: 512, blockSize: 16 });
    expect(load.requests.some(({ outputTokens, maxTokens }) => outputTokens < maxTokens)).toBe(true);
    expect(load.stepTime.baseMs + load.stepTime.perRowMs).toBeGreaterThan(0);
  });

  it("has as many tokens when it is replayed", async () => {
    const { records } = await replayLoad(load);
    const total = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0);
    expect(total(records.map(outputTokensOf))).toBe(total(load.requests.map(({ outputTokens }) => outputTokens)));
  });
});

describe("balanced, beside fcfs", () => {
  it.each(["mixed lengths, overload", "mixed lengths, small cache"] as const)(
    "answers sooner on average: %s",
    async (name) => {
      const load = seededLoad(name);
      const [fcfs, balanced] = [await metricsOf(load, "fcfs"), await metricsOf(load, "balanced")];
      expect(balanced.mean_e2el_ms).toBeLessThan(0.7 * fcfs.mean_e2el_ms);
      expect(balanced.mean_ttft_ms).toBeLessThan(0.6 * fcfs.mean_ttft_ms);
      expect(balanced.p95_e2el_ms).toBeLessThan(1.05 * fcfs.p95_e2el_ms);
      expect(balanced.output_throughput).toBeGreaterThan(0.95 * fcfs.output_throughput);
    },
  );

  it("has a higher throughput in static batches", async () => {
    const load = seededLoad("mixed lengths, static batches");
    const [fcfs, balanced] = [await metricsOf(load, "fcfs"), await metricsOf(load, "balanced")];
    expect(balanced.output_throughput).toBeGreaterThan(1.2 * fcfs.output_throughput);
  });

  it.each(["similar lengths, overload", "similar lengths, small cache", "lengths unknown, small cache"] as const)(
    "loses less than a twentieth where it can't win: %s",
    async (name) => {
      const load = seededLoad(name);
      const [fcfs, balanced] = [await metricsOf(load, "fcfs"), await metricsOf(load, "balanced")];
      expect(balanced.output_throughput).toBeGreaterThan(0.95 * fcfs.output_throughput);
      for (const figure of ["p95_ttft_ms", "p95_e2el_ms", "p95_itl_ms", "mean_e2el_ms"] as const) {
        expect(balanced[figure], figure).toBeLessThan(1.05 * fcfs[figure]);
      }
    },
  );
});
