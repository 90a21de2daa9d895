import { expect, test } from "vitest";

import type { LoadProgress } from "../../protocol/reports.ts";
import { throttleProgress } from "./throttle-progress.ts";

/** Returns those that are passed on, of reports that come this many milliseconds apart. */
function reported(reports: readonly LoadProgress[], apartMs: number): LoadProgress[] {
  const passed: LoadProgress[] = [];
  let nowMs = 0;
  const notify = throttleProgress(
    (progress) => passed.push(progress),
    () => nowMs,
  );
  for (const report of reports) {
    notify(report);
    nowMs += apartMs;
  }
  return passed;
}

const weights = (done: number, total = 100): LoadProgress => ({ stage: "weights", done, total });
const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

test("a stage's first and last report are told, and one in 50 ms between them", () => {
  const reports = numbers(101).map((done) => weights(done));
  expect(reported(reports, 10).map(({ done }) => done)).toEqual(numbers(21).map((i) => 5 * i));
  expect(reported(reports, 1).map(({ done }) => done)).toEqual([0, 50, 100]);
  expect(reported(reports, 100)).toEqual(reports);
});

test("each stage has its own time", () => {
  const memory: LoadProgress = { stage: "memory", done: 1, total: 100 };
  expect(reported([weights(1), memory, weights(2), { ...memory, done: 2 }], 1)).toEqual([weights(1), memory]);
});

test("a file whose size nobody knows is told no more often", () => {
  const reports = numbers(50).map((i) => weights(i + 1, i + 1));
  expect(reported([...reports, weights(50, 50)], 1)).toEqual([weights(1, 1), weights(50, 50)]);
});

test("waiting, its end, and a beginning from the start are told at once", () => {
  const waiting = { ...weights(2), isWaiting: true };
  const reports = [weights(1), weights(2), waiting, weights(3), weights(4), weights(0)];
  expect(reported(reports, 1)).toEqual([weights(1), waiting, weights(3), weights(0)]);
});

test("a stage that goes on after its end is told at once", () => {
  const kernels = (done: number, total: number): LoadProgress => ({ stage: "kernels", done, total });
  const reports = [kernels(7, 8), kernels(8, 8), kernels(8, 27), kernels(9, 27), kernels(27, 27)];
  expect(reported(reports, 1)).toEqual([kernels(7, 8), kernels(8, 8), kernels(8, 27), kernels(27, 27)]);
});
