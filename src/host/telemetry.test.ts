import { describe, expect, it } from "vitest";

import type { SchedulerLimits } from "../engine/scheduling/scheduler-config.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
import type { LogLevel, ResolvedEngineConfig } from "../protocol/config.ts";
import type { Alert, ModelCard } from "../protocol/reports.ts";
import { SAMPLE_STATS, sampleEntry, sampleRequest, sampleStep } from "../../tests/requests/sample-reports.ts";
import { Logger } from "./logger.ts";
import { Telemetry } from "./telemetry.ts";

const DTYPES = { dtype: "f16", activationDtype: "f32", kvCacheDtype: "f16" };
const MODEL = { name: "m", adapter: "a GPU", ...DTYPES, numGpuBlocks: 16 } as ModelCard;
const CONFIG = {
  alerts: { lowOccupancy: null, queueLength: 5, itlMs: null, failureRate: 0.5 },
  logLevel: "silent",
  maxNumBatchedTokens: 256,
  maxNumSeqs: 8,
  maxModelLen: 128,
  maxStepStretch: 2,
  targetItlMs: null,
} as ResolvedEngineConfig;

function create({ targetItlMs = null, level = "debug" }: { targetItlMs?: number | null; level?: LogLevel } = {}) {
  const limits: SchedulerLimits[] = [];
  const log: string[] = [];
  const write = (name: string) => (text: string) => void log.push(`${name} ${text}`);
  const target = { error: write("error"), warn: write("warn"), info: write("info"), debug: write("debug") };
  let beside = (_streams: number): number => NaN;
  const stats = { ...SAMPLE_STATS };
  const engine = {
    stats: () => stats,
    setLimits: (set: SchedulerLimits) => void limits.push(set),
    setPromptRows: (set: typeof beside) => void (beside = set),
  };
  const telemetry = new Telemetry(engine, MODEL, { ...CONFIG, targetItlMs }, new Logger(level, target));
  return { telemetry, limits, promptRows: (streams: number) => beside(streams), log, stats };
}

const ended = (finishReason: SequenceOutput["finishReason"], stopReason: string | null = null): SequenceOutput => {
  const nothing = {
    text: "",
    tokenIds: [],
    logprobs: [],
    topLogprobs: [],
    promptScores: [],
    cachedTokens: 0,
    draftTokens: 0,
    acceptedTokens: 0,
    reasoning: "",
    reasoningTokens: 0,
    error: null,
    score: null,
  };
  return { requestId: "a", index: 0, ...nothing, finishReason, stopReason };
};

describe("an engine's reports", () => {
  it("become histograms, a step before its requests", () => {
    const { telemetry } = create();
    const first = { status: "first-token", firstTokenMs: 100, outputTokens: 1 } as const;
    telemetry.observe([], sampleStep({ atMs: 100, entries: [sampleEntry("a")] }), [sampleRequest("a", first)], 100);
    const last = { ...first, status: "finished", finishedMs: 150, outputTokens: 2 } as const;
    telemetry.observe([], sampleStep({ atMs: 150, entries: [sampleEntry("a")] }), [sampleRequest("a", last)], 150);
    const text = telemetry.prometheusText();
    expect(text).toContain('vllm:inter_token_latency_seconds_sum{model_name="m"} 0.05\n');
    expect(text).toContain('vllm:inter_token_latency_seconds_count{model_name="m"} 1\n');
    expect(text).toContain('vllm:num_requests_running{model_name="m"} 3\n');
  });

  it("resolve what waited when all of it is aborted", () => {
    const { telemetry, stats } = create();
    telemetry.observe([], sampleStep({ numWaiting: 6 }), [], 0);
    expect(telemetry.observe([ended("abort")], null, [], 1)).toEqual([]);
    Object.assign(stats, { num_requests_running: 0, num_requests_waiting: 0 });
    const resolved = [{ name: "queue_length", status: "resolved" }];
    expect(telemetry.observe([ended("abort")], null, [], 2)).toMatchObject(resolved);
  });

  it("resolve slow tokens when the last answer ends, which a step reports", () => {
    const { telemetry, stats } = create();
    const thresholds = { ...CONFIG.alerts, itlMs: 50 };
    telemetry.update({ ...CONFIG, alerts: thresholds }, 0);
    const first = { status: "first-token", firstTokenMs: 0, outputTokens: 1 } as const;
    telemetry.observe([], null, [sampleRequest("a", first)], 0);
    const speak = (atMs: number, outputs: readonly SequenceOutput[] = []) =>
      telemetry.observe(outputs, sampleStep({ atMs, entries: [sampleEntry("a")] }), [], atMs);
    const raised = Array.from({ length: 30 }, (_, step) => speak(80 * (step + 1))).flat();
    expect(raised).toMatchObject([{ name: "itl", status: "raised" }]);
    expect(speak(2480, [ended("stop")])).toEqual([]);
    Object.assign(stats, { num_requests_running: 0, num_requests_waiting: 0 });
    expect(speak(2560, [ended("stop")])).toMatchObject([{ name: "itl", status: "resolved" }]);
  });

  it("become alerts", () => {
    const { telemetry, log } = create({ level: "warn" });
    expect(telemetry.observe([], sampleStep({ numWaiting: 6 }), [], 0)).toMatchObject([{ name: "queue_length" }]);
    expect(log).toEqual([expect.stringMatching(/^warn chorus: queue_length: 6 sequences wait/)]);
  });

  it("become alerts by new thresholds, which resolve those of the old ones", () => {
    const { telemetry, log } = create({ level: "info" });
    telemetry.observe([], sampleStep({ numWaiting: 6 }), [], 0);
    const thresholds = { ...CONFIG.alerts, queueLength: 9 };
    expect(telemetry.update({ ...CONFIG, logLevel: "info", alerts: thresholds }, 5)).toMatchObject([
      { name: "queue_length", status: "resolved" },
    ]);
    expect(telemetry.observe([], sampleStep({ numWaiting: 9 }), [], 0)).toEqual([]);
    expect(log.at(-1)).toBe("info chorus: queue_length is resolved");
  });

  it("bring other limits with another target, and none without", () => {
    const { telemetry, limits, promptRows } = create();
    telemetry.update({ ...CONFIG, targetItlMs: 10, maxNumBatchedTokens: 8 }, 0);
    expect(limits).toEqual([{ maxNumSeqs: 2, maxNumBatchedTokens: 8 }]);
    expect(promptRows(4)).toBe(8);
    telemetry.observe([], sampleStep({ rows: 2, stepMs: 1 }), [], 0);
    telemetry.update({ ...CONFIG, targetItlMs: 10, maxNumBatchedTokens: 8, maxQueueSize: 3 }, 0);
    expect(limits.at(-1)?.maxNumSeqs).toBeGreaterThan(2); // it goes on where it was
    const before = limits.length;
    telemetry.update(CONFIG, 0);
    telemetry.observe([], sampleStep({ rows: 2, stepMs: 1 }), [], 0);
    expect(limits).toHaveLength(before);
  });

  it("are logged from now on where the level changes, with what was said at load", () => {
    const { telemetry, log } = create({ level: "silent" });
    telemetry.observeKernels({ kernelNotes: ["matmul kernel: row for 1 row (a test)"] });
    telemetry.update({ ...CONFIG, logLevel: "info" }, 0);
    expect(log).toEqual([
      expect.stringMatching(/^info chorus: config: alerts .* maxNumSeqs 8,/),
      "info chorus: matmul kernel: row for 1 row (a test)",
    ]);
    telemetry.update({ ...CONFIG, logLevel: "info", maxNumSeqs: 4 }, 0);
    expect(log.at(-1)).toBe("info chorus: config: maxNumSeqs 4");
  });

  it("set the engine's limits only if there is a target", () => {
    const without = create();
    const within = create({ targetItlMs: 10 });
    for (const { telemetry } of [without, within]) {
      for (let i = 0; i < 50; i++) telemetry.observe([], sampleStep({ rows: 100, stepMs: 40 }), [], 0);
    }
    expect(without.limits).toEqual([]);
    // The limits begin small and change with each step.
    expect(within.limits[0]?.maxNumSeqs).toBeLessThan(5);
    expect(within.limits).toHaveLength(51);
    expect(within.limits.at(-1)?.maxNumBatchedTokens).toBeLessThan(50);
  });

  it("bound the rows of prompts by what they cost the streams", () => {
    const { telemetry, promptRows } = create();
    for (let i = 0; i < 10; i++) telemetry.observe([], sampleStep({ rows: 4, promptRows: 0, stepMs: 10 }), [], 0);
    const before = promptRows(4);
    telemetry.observe([], sampleStep({ rows: 4 + before, promptRows: before, stepMs: 40 }), [], 0);
    expect(promptRows(4)).toBe(before / 2);
  });
});

describe("a step whose kernels were timed", () => {
  const timed = true;
  const streams = sampleStep({ rows: 4, stepMs: 10 });

  it("teaches neither the limits nor the bound of prompts: it takes longer than others", () => {
    const { telemetry, limits, promptRows } = create({ targetItlMs: 30 });
    telemetry.observe([], { ...streams, stepMs: 300 }, [], 0, timed);
    expect(limits.at(-1)).toEqual(limits[0]); // nothing is known yet
    for (let i = 0; i < 10; i++) telemetry.observe([], streams, [], 0);
    const before = promptRows(4);
    telemetry.observe([], sampleStep({ rows: 4 + before, promptRows: before, stepMs: 400 }), [], 0, timed);
    for (let i = 0; i < 5; i++) telemetry.observe([], { ...streams, stepMs: 300 }, [], 0, timed);
    expect(promptRows(4)).toBe(before);
    const { maxNumBatchedTokens = 0 } = limits.at(-1) ?? {};
    telemetry.observe([], streams, [], 0);
    expect(limits.at(-1)?.maxNumBatchedTokens).toBeGreaterThanOrEqual(maxNumBatchedTokens);
    expect(maxNumBatchedTokens).toBe(limits.at(-8)?.maxNumBatchedTokens);
  });

  it("lowers the limit of sequences as others do, where the cache was full", () => {
    const { telemetry, limits } = create({ targetItlMs: 30 });
    for (let i = 0; i < 30; i++) telemetry.observe([], streams, [], 0);
    telemetry.observe([], { ...streams, numRunning: 3, preemptionsTotal: 1, kvBlocksUsed: 100 }, [], 0, timed);
    expect(limits.at(-1)?.maxNumSeqs).toBe(3);
  });

  it("raises no alert of latency and moves no threshold, but is in the histograms", () => {
    const { telemetry } = create();
    telemetry.update({ ...CONFIG, alerts: { ...CONFIG.alerts, itlMs: "auto" } }, 0);
    let atMs = 0;
    const alerts: Alert[] = [];
    const step = (stepMs: number, isTimed = false) => {
      atMs += stepMs;
      const report = sampleStep({ atMs, stepMs, entries: [sampleEntry("a")] });
      alerts.push(...telemetry.observe([], report, [], atMs, isTimed));
    };
    const first = { status: "first-token", firstTokenMs: 0, outputTokens: 1 } as const;
    telemetry.observe([], null, [sampleRequest("a", first)], 0);
    for (let i = 0; i < 100; i++) step(500, timed);
    for (let i = 0; i < 160; i++) step(i % 8 === 0 ? 500 : 20, i % 8 === 0);
    expect(alerts).toEqual([]);
    // 80 ms is four times what a step without timing takes.
    for (let i = 0; i < 20; i++) step(81);
    expect(alerts).toMatchObject([{ name: "itl", threshold: 80 }]);
    const text = telemetry.prometheusText();
    expect(text).toContain('vllm:inter_token_latency_seconds_count{model_name="m"} 280\n');
    expect(text).toContain('chorus:engine_step_seconds_bucket{model_name="m",le="0.2"} 160\n');
  });
});

describe("a failure", () => {
  const error = { code: "queue_full", message: "too many", param: null } as const;

  it("is a refusal or a missed deadline, but no abort and no normal end", () => {
    const { telemetry } = create();
    const good = [ended("stop"), ended("length"), ended("abort"), ended("stop", "deadline"), ended(null)];
    for (let i = 0; i < 5; i++) expect(telemetry.observe(good, null, [], 0)).toEqual([]);
    // 20 requests ended normally.
    for (let i = 0; i < 10; i++) expect(telemetry.observeRefusal(error, 0)).toEqual([]);
    for (let i = 0; i < 10; i++) expect(telemetry.observe([ended("abort", "deadline")], null, [], 0)).toEqual([]);
    expect(telemetry.observeRefusal(error, 7)).toMatchObject([{ name: "failure_rate", threshold: 0.5, atMs: 7 }]);
  });

  it("is logged by its severity", () => {
    const { telemetry, log } = create();
    telemetry.observeKernels({ kernelNotes: ["matmul kernel: row for 1 row (a test)"] });
    telemetry.observeRefusal(error, 0);
    telemetry.observeFatal({ code: "device_lost", message: "gone", param: null });
    telemetry.observeFatal({ code: "engine_disposed", message: "done", param: null });
    telemetry.observe([], sampleStep({ entries: [sampleEntry("a")], gpuMs: 8 }), [], 0);
    expect(log).toEqual([
      "info chorus: m is loaded on a GPU: weights in f16, 16 cache blocks",
      expect.stringMatching(
        /^info chorus: config: alerts {.*}, logLevel "silent", .*maxNumSeqs 8,.* targetItlMs null$/,
      ),
      "info chorus: matmul kernel: row for 1 row (a test)",
      "warn chorus: a request was refused (queue_full): too many",
      "error chorus: the engine died (device_lost): gone",
      "info chorus: the engine was disposed of",
      "debug chorus: step 1: 1 sequences, 1 rows (0 of prompts), 1 tokens; 10.0 ms, CPU 1.00, GPU 8.00",
    ]);
  });
});
