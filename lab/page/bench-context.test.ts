import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { BenchContext, type BenchContextParts } from "./bench-context.ts";
import { readBenchOptions } from "./bench-options.ts";

beforeEach(() => vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => vi.useRealTimers());

/** Cases that take so long each, with five rounds asked for. */
async function interleaved(caseMs: readonly number[], mostMs?: number, budgetMs = Infinity) {
  const received: string[] = [];
  const context = new BenchContext({
    options: readBenchOptions(new URLSearchParams("repeats=5")),
    signal: new AbortController().signal,
    budgetMs,
    onProgress: (share: number, what: string) => received.push(`${share.toFixed(2)} ${what}`),
  } as unknown as BenchContextParts);
  const order: number[] = [];
  const warmUps: boolean[] = [];
  const measured = await context.interleave(
    caseMs,
    (ms) => `${ms} ms`,
    (ms, isWarmUp) => {
      order.push(ms);
      warmUps.push(isWarmUp);
      vi.advanceTimersByTime(ms);
      return Promise.resolve(order.length);
    },
    { mostMs },
  );
  return { order, warmUps, received, notes: context.notes, outcomes: measured.map((one) => one.outcomes) };
}

it("measures in rounds, the first for nothing", async () => {
  const { order, warmUps, outcomes, notes, received } = await interleaved([10, 20]);
  expect(order).toEqual(Array.from({ length: 6 }, () => [10, 20]).flat());
  expect(warmUps).toEqual(order.map((_, i) => i < 2));
  expect(outcomes).toEqual([
    [3, 5, 7, 9, 11],
    [4, 6, 8, 10, 12],
  ]);
  expect(notes).toEqual([]);
  expect(received.slice(0, 3)).toEqual([
    "0.00 10 ms, warming up",
    "0.08 20 ms, warming up",
    "0.17 10 ms, round 1 of 5",
  ]);
});

it("leaves out the rounds that would take over a minute, and says so", async () => {
  const { outcomes, notes } = await interleaved([12_000, 13_000]);
  expect(outcomes.map(({ length }) => length)).toEqual([2, 2]);
  expect(notes).toEqual(["2 of 5 rounds: more would have taken over 60 seconds."]);
});

it("takes another limit for the rounds' time, and says how much of it is over", async () => {
  const { outcomes, notes, received } = await interleaved([3000, 1000], 12_000);
  expect(received.at(-1)).toBe("0.92 1000 ms, round 3 of 5");
  expect(outcomes.map(({ length }) => length)).toEqual([3, 3]);
  expect(notes).toEqual(["3 of 5 rounds: more would have taken over 12 seconds."]);
});

it("has at least one round, however long it takes", async () => {
  const { outcomes, notes } = await interleaved([90_000]);
  expect(outcomes.map(({ length }) => length)).toEqual([1]);
  expect(notes).toEqual(["1 of 5 rounds: more would have taken over 60 seconds."]);
});

it("keeps to the section's time: the last cases are left out, and the rounds that would exceed it", async () => {
  const { outcomes, order, notes } = await interleaved([2000, 3000, 4000, 9000], undefined, 16_000);
  expect(order).toEqual([2000, 3000, 4000, 2000, 3000, 4000]);
  expect(outcomes.map(({ length }) => length)).toEqual([1, 1, 1]);
  expect(notes).toEqual([
    "Left out for lack of time: 9000 ms.",
    "1 of 5 rounds: more would have taken over 7 seconds.",
  ]);
});

it("measures the first case even if there is no time", async () => {
  const { outcomes, notes } = await interleaved([2000, 3000], undefined, 0);
  expect(outcomes.map(({ length }) => length)).toEqual([1]);
  expect(notes[0]).toBe("Left out for lack of time: 3000 ms.");
});
