import { afterEach, beforeEach, expect, it, vi } from "vitest";

import type { Runner, StepResult } from "../engine/runner.ts";
import { ROW_WORDS, type StepPlan } from "../engine/step-plan.ts";
import { ChorusError } from "../protocol/errors.ts";
import { params } from "../../tests/requests/sample-answers.ts";
import { WatchedRunner } from "./watched-runner.ts";

const RESULT: StepResult = { sequences: [], gpuMs: null };

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const plan = (numRows: number): StepPlan => ({
  sequences: [],
  rows: new Uint32Array(numRows * ROW_WORDS),
  samples: [],
  blockTables: [],
  histories: [],
  rules: [],
  masks: [],
});

/** A runner whose steps take given times, one after the other; Infinity: for ever. */
function setUp() {
  let endMs = 0;
  const runner: Runner & { stepMs: number } = {
    stepMs: 0,
    submit() {
      endMs = Math.max(Date.now(), endMs) + this.stepMs;
      if (endMs === Infinity) return new Promise(() => undefined);
      return new Promise((resolve) => setTimeout(() => resolve(RESULT), endMs - Date.now()));
    },
  };
  const watched = new WatchedRunner(runner, () => Date.now());
  /** Resolves with what came of a step, and when, in seconds. */
  const submit = async (stepMs: number, numRows = 1) => {
    runner.stepMs = stepMs;
    const startMs = Date.now();
    const outcome = await watched.submit(plan(numRows)).catch((error: { code: string }) => error.code);
    return [outcome === RESULT ? "ended" : outcome, Math.round((Date.now() - startMs) / 1000)];
  };
  return { submit };
}

async function withSteps(stepMs: number, numRows = 1) {
  const { submit } = setUp();
  for (let i = 0; i < 5; i++) {
    const ended = submit(stepMs, numRows);
    await vi.advanceTimersByTimeAsync(stepMs);
    expect((await ended)[0]).toBe("ended");
  }
  return submit;
}

it.each([
  ["short steps", 5, 1, 1, 10, 12],
  ["long steps", 3000, 1, 1, 30, 32],
  ["one with many more rows than those before it", 100, 4, 256, 64, 66],
  ["one with fewer rows", 2000, 64, 1, 20, 22],
])("gives a step up that never ends, after %s", async (_, stepMs, numRows, stuckRows, atLeast, atMost) => {
  const submit = await withSteps(stepMs, numRows);
  const stuck = submit(Infinity, stuckRows);
  await vi.advanceTimersByTimeAsync(200_000);
  const [outcome, seconds] = await stuck;
  expect(outcome).toBe("device_lost");
  expect(seconds).toBeGreaterThanOrEqual(atLeast);
  expect(seconds).toBeLessThanOrEqual(atMost);
});

it("is patient with the first step, and gives up what is behind a stuck one with it", async () => {
  const { submit } = setUp();
  const first = submit(100_000, 64);
  await vi.advanceTimersByTimeAsync(100_000);
  expect(await first).toEqual(["ended", 100]);
  const { submit: other } = setUp();
  const stuck = [other(Infinity, 1), other(Infinity, 1)];
  await vi.advanceTimersByTimeAsync(70_000);
  expect(await Promise.all(stuck)).toEqual([
    ["device_lost", 63],
    ["device_lost", 63],
  ]);
});

it("does not count the time of a freeze, neither against a step nor towards later limits", async () => {
  const submit = await withSteps(5);
  const frozen = submit(3000);
  await vi.advanceTimersByTimeAsync(2000);
  vi.setSystemTime(Date.now() + 3_600_000); // the clock goes on while timers stand still
  await vi.advanceTimersByTimeAsync(1000);
  expect((await frozen)[0]).toBe("ended");
  const stuck = submit(Infinity);
  await vi.advanceTimersByTimeAsync(60_000);
  const [outcome, seconds] = await stuck;
  expect(outcome).toBe("device_lost");
  expect(seconds).toBeLessThan(60);
});

it("leaves no timer behind when nothing is in flight", async () => {
  await withSteps(5);
  expect(vi.getTimerCount()).toBe(1);
  await vi.advanceTimersByTimeAsync(3000);
  expect(vi.getTimerCount()).toBe(0);
});

it("counts no wait for a kernel as a step, and says what lies behind an error", async () => {
  const lost = new ChorusError("device_lost", "It was lost.");
  const missing = () => Promise.reject(new Error("a driver's words"));
  const submit = () => Promise.resolve(RESULT);
  const runner: Runner = { submit, missing };
  const needs = { kind: "draw", params, isProcessed: false, numTop: 0 } as const;
  await expect(new WatchedRunner(runner, Date.now).missing(needs)).rejects.toMatchObject({ code: "internal_error" });
  await expect(new WatchedRunner(runner, Date.now, async () => lost).missing(needs)).rejects.toBe(lost);
  expect(new WatchedRunner({ submit }, Date.now).missing(needs)).toBeNull();
  expect(vi.getTimerCount()).toBe(0);
});
