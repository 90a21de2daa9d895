import { describe, expect, it } from "vitest";

import { readRecording } from "../../recording/read-recording.ts";
import { recordRun } from "../../recording/recording.ts";
import type { ChorusEngine } from "../../protocol/engine.ts";
import type { ModelCard, StepReport } from "../../protocol/reports.ts";
import { sampleStep } from "../../../tests/requests/sample-reports.ts";
import { SimulatedLoad, type SimulatedLoadOptions } from "../../../tests/fakes/simulated-load.ts";
import type { SchedulerLimits } from "../scheduling/scheduler-config.ts";
import { AdaptiveLimits } from "./adaptive-limits.ts";

const TARGET_MS = 30;
const CONFIG: SchedulerLimits = { maxNumSeqs: 64, maxNumBatchedTokens: 512 };

/** Chats of all lengths, and every so often five long documents at once. */
const request: SimulatedLoadOptions["request"] = (n, random) =>
  n % 50 < 5
    ? { promptTokens: 900, outputTokens: 40 }
    : { promptTokens: 10 + Math.floor(300 * random()), outputTokens: 20 + Math.floor(100 * random()) };

/** The controller of the limits, or none. */
class Policy {
  limits: SchedulerLimits;
  readonly #adaptive: AdaptiveLimits | null;

  constructor(limits: SchedulerLimits, targetItlMs: number | null) {
    this.limits = limits;
    this.#adaptive = targetItlMs === null ? null : new AdaptiveLimits({ ...limits, targetItlMs });
    if (this.#adaptive) this.limits = this.#adaptive.limits;
  }

  observe(report: StepReport): void {
    if (this.#adaptive) this.limits = this.#adaptive.observe(report);
  }
}

/** The steps of a load, and the budget that each had. */
function run(load: SimulatedLoad, policy: Policy, count: number) {
  const [usefulRows, seconds] = [load.usefulRows, load.seconds];
  const budgets: number[] = [];
  const reports = Array.from({ length: count }, () => {
    budgets.push(policy.limits.maxNumBatchedTokens);
    const report = load.step(policy.limits);
    policy.observe(report);
    return report;
  });
  const rowsPerSecond = (load.usefulRows - usefulRows) / (load.seconds - seconds);
  return { reports, budgets, rowsPerSecond, stepMs: percentile95(reports.map(({ stepMs }) => stepMs)) };
}

function percentile95(values: number[]): number {
  return values.sort((a, b) => a - b)[Math.ceil(0.95 * values.length) - 1] ?? NaN;
}

/** How often a value that fell rises, or the other way round. */
function reversals(values: readonly number[]): number {
  const moves = values.slice(1).map((value, i) => Math.sign(value - (values[i] ?? 0)));
  const directions = moves.filter((move) => move !== 0);
  return directions.slice(1).filter((direction, i) => direction !== directions[i]).length;
}

describe("a target for the step time", () => {
  it("is met to 15% whatever a row costs, with few changes of direction", () => {
    let msPerRow = 0.15;
    const load = new SimulatedLoad({ costMs: (rows) => 4 + msPerRow * rows, request });
    const policy = new Policy(CONFIG, TARGET_MS);
    const budgets: number[] = [];
    for (msPerRow of [0.15, 0.3, 0.1]) {
      budgets.push(...run(load, policy, 400).budgets);
      const settled = run(load, policy, 300);
      budgets.push(...settled.budgets);
      expect(settled.stepMs / TARGET_MS, `at ${msPerRow} ms a row`).toBeGreaterThan(0.85);
      expect(settled.stepMs / TARGET_MS, `at ${msPerRow} ms a row`).toBeLessThan(1.15);
      expect(reversals(settled.budgets), `at ${msPerRow} ms a row`).toBeLessThanOrEqual(2);
    }
    expect(reversals(budgets)).toBeLessThanOrEqual(12);
  });

  it.each([0.15, 0.3, 0.1])("costs under a tenth of the best fixed budget's throughput, at %d ms a row", (msPerRow) => {
    const settled = (policy: Policy) => {
      const load = new SimulatedLoad({ costMs: (rows) => 4 + msPerRow * rows, request });
      run(load, policy, 200);
      return run(load, policy, 300);
    };
    let best = 0;
    for (let budget = 32; budget <= CONFIG.maxNumBatchedTokens; budget += 8) {
      const maxNumSeqs = Math.min(CONFIG.maxNumSeqs, budget);
      const { rowsPerSecond, stepMs } = settled(new Policy({ maxNumSeqs, maxNumBatchedTokens: budget }, null));
      if (stepMs <= 1.05 * TARGET_MS) best = Math.max(best, rowsPerSecond);
    }
    expect(settled(new Policy(CONFIG, TARGET_MS)).rowsPerSecond / best).toBeGreaterThan(0.9);
  });

  it("is held within a dozen steps after rows come to cost twice as much", () => {
    let msPerRow = 0.15;
    const load = new SimulatedLoad({ costMs: (rows) => 4 + msPerRow * rows, request });
    const policy = new Policy(CONFIG, TARGET_MS);
    run(load, policy, 300);
    msPerRow = 0.3;
    expect(run(load, policy, 12).stepMs).toBeGreaterThan(1.15 * TARGET_MS);
    expect(run(load, policy, 50).stepMs).toBeLessThan(1.15 * TARGET_MS);
  });

  it("leaves the configured limits alone where they keep it", () => {
    const load = new SimulatedLoad({ costMs: (rows) => 2 + 0.02 * rows, request });
    const policy = new Policy(CONFIG, TARGET_MS);
    run(load, policy, 50);
    expect(new Set(run(load, policy, 300).budgets)).toEqual(new Set([512]));
    expect(policy.limits).toEqual(CONFIG);
  });

  it("that no step can keep brings the limits down to 16 tokens and a handful of sequences, and no further", () => {
    const load = new SimulatedLoad({ costMs: (rows) => 50 + rows, request });
    const policy = new Policy(CONFIG, TARGET_MS);
    run(load, policy, 300);
    expect(policy.limits.maxNumBatchedTokens).toBe(16);
    expect(policy.limits.maxNumSeqs).toBeGreaterThanOrEqual(1);
    expect(policy.limits.maxNumSeqs).toBeLessThanOrEqual(8);
  });

  it("is not forgotten over one step that took very long", () => {
    const load = new SimulatedLoad({ costMs: (rows) => 4 + 0.15 * rows, request });
    const policy = new Policy(CONFIG, TARGET_MS);
    run(load, policy, 300);
    const before = policy.limits.maxNumBatchedTokens;
    policy.observe(sampleStep({ rows: before, stepMs: 20_000 }));
    const { budgets } = run(load, policy, 60);
    expect(Math.min(...budgets)).toBeGreaterThan(0.4 * before);
    expect(budgets.at(-1)).toBeGreaterThan(0.85 * before);
  });
});

describe("a burst at a cold start", () => {
  // Twenty chats at once on a slow machine, where ten rows are what the target allows.
  const burst: SimulatedLoadOptions["request"] = () => ({ promptTokens: 40, outputTokens: 40 });
  const create = () => new SimulatedLoad({ costMs: (rows) => 8 + 11 * rows, request: burst, queueLength: 20 });

  it("lets in only as many as the target allows, though nobody could be sent away again", () => {
    const { reports, stepMs } = run(create(), new Policy(CONFIG, 120), 200);
    // The first prompt comes in the smallest piece there is, which takes more than the target here.
    expect(Math.max(...reports.map(({ stepMs: ms }) => ms))).toBeLessThan(1.25 * (8 + 11 * 17));
    expect(stepMs).toBeLessThan(1.7 * 120);
    expect(Math.max(...reports.map(({ numRunning }) => numRunning))).toBeLessThanOrEqual(12);
    expect(Math.max(...reports.slice(-50).map(({ numRunning }) => numRunning))).toBeGreaterThanOrEqual(6);
  });

  it("is at full speed within thirty steps where the machine is fast", () => {
    const policy = new Policy(CONFIG, 120);
    run(new SimulatedLoad({ costMs: (rows) => 1 + 0.01 * rows, request: burst }), policy, 30);
    expect(policy.limits).toEqual(CONFIG);
  });
});

describe("memory pressure", () => {
  /** Room for about twenty sequences of the sixty-four that may run. */
  const create = () =>
    new SimulatedLoad({ costMs: (rows) => 4 + 0.02 * rows, request, kvBlocksTotal: 300, queueLength: 80 });
  const preemptions = (reports: readonly StepReport[]) =>
    (reports.at(-1)?.preemptionsTotal ?? 0) - (reports[0]?.preemptionsTotal ?? 0);

  it("lets fewer in, so that far fewer are preempted, for little throughput", () => {
    const [plain, adaptive] = [null, 1000].map((targetMs) => {
      const [load, policy] = [create(), new Policy(CONFIG, targetMs)];
      run(load, policy, 200);
      return run(load, policy, 1000);
    });
    expect(preemptions(plain!.reports)).toBeGreaterThan(50);
    expect(preemptions(adaptive!.reports)).toBeLessThan(preemptions(plain!.reports) / 2);
    expect(adaptive!.rowsPerSecond / plain!.rowsPerSecond).toBeGreaterThan(0.9);
  });

  it("lets them in again, one after the other, when there is room", () => {
    const adaptive = new AdaptiveLimits({ ...CONFIG, targetItlMs: 1000 });
    for (let i = 0; i < 40; i++) adaptive.observe(sampleStep({ rows: 20, numRunning: 20, preemptionsTotal: 0 }));
    const full = sampleStep({ rows: 20, numRunning: 20, kvBlocksUsed: 99, preemptionsTotal: 3 });
    expect(adaptive.observe(full).maxNumSeqs).toBe(20);
    const roomy = { ...full, kvBlocksUsed: 50 };
    for (let i = 0; i < 7; i++) expect(adaptive.observe(roomy).maxNumSeqs).toBe(20);
    expect(adaptive.observe(roomy).maxNumSeqs).toBe(21);
    for (let i = 0; i < 500; i++) adaptive.observe(roomy);
    expect(adaptive.observe(roomy).maxNumSeqs).toBe(64);
  });
});

it("says the same over a recorded load, read back from its JSON lines", () => {
  const listeners: ((report: StepReport) => void)[] = [];
  const on = ((event: string, listener: (report: StepReport) => void) => {
    if (event === "step") listeners.push(listener);
    return () => undefined;
  }) as ChorusEngine["on"];
  const model: ModelCard = {
    name: "simulated",
    numParameters: 0,
    weightBytes: 0,
    kvCacheBytes: 1,
    contextLength: 1024,
    vocabSize: 1,
    numLayers: 1,
    dtype: "f32",
    mixture: null,
    activationDtype: "f32",
    kvCacheDtype: "f32",
    numGpuBlocks: 1e6,
    blockSize: 16,
    backend: "webgpu",
    adapter: "none",
    notice: null,
    chat: false,
    readsSystemPrompt: false,
    canTimeKernels: false,
    defaults: { temperature: 1, top_p: 1, top_k: 0, min_p: 0, repetition_penalty: 1 },
  };
  const config = {
    maxNumSeqs: 64,
    maxNumBatchedTokens: 256,
    maxModelLen: 1024,
    runAhead: 0,
    enablePrefixCaching: true,
    schedulingPolicy: "fcfs",
    batchingMode: "continuous",
    cpuMath: "portable",
  } as ChorusEngine["config"];
  const recorder = recordRun({ model, on, config });
  const policy = new Policy(CONFIG, TARGET_MS);
  let msPerRow = 0.1;
  const load = new SimulatedLoad({ costMs: (rows) => 4 + msPerRow * rows, request });
  const live: SchedulerLimits[] = [];
  for (let i = 0; i < 600; i++) {
    if (i === 200) msPerRow = 0.25;
    const report = load.step(policy.limits);
    for (const listener of listeners) listener(report);
    policy.observe(report);
    live.push(policy.limits);
  }
  const again = new AdaptiveLimits({ ...CONFIG, targetItlMs: TARGET_MS });
  const steps = readRecording(recorder.stop()).events.filter((event) => event.type === "step");
  expect(steps.map((step) => again.observe(step))).toEqual(live);
  const lastMs = steps.slice(-200).map(({ stepMs }) => stepMs);
  expect(Math.abs(percentile95(lastMs) / TARGET_MS - 1)).toBeLessThan(0.15);
  expect(reversals(live.map(({ maxNumBatchedTokens }) => maxNumBatchedTokens))).toBeLessThanOrEqual(10);
});
