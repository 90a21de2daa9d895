import { expect, it } from "vitest";
import { SlidingWindow } from "./sliding-window.ts";

it("has the samples of the window, and forgets what left it", () => {
  const window = new SlidingWindow<{ readonly atMs: number }>(2000);
  const times = (nowMs: number) => window.at(nowMs).map(({ atMs }) => atMs);
  for (const atMs of [0, 1000, 2000]) window.add({ atMs });
  expect(times(1999)).toEqual([0, 1000, 2000]);
  expect(times(2000)).toEqual([1000, 2000]);
  window.add({ atMs: 3500 });
  expect(times(4000)).toEqual([3500]);
  expect(times(0)).toEqual([3500]);
  window.clear();
  expect(times(4000)).toEqual([]);
});

it("keeps the newest where there are too many, also if nobody looks", () => {
  const window = new SlidingWindow<{ readonly atMs: number }>(1000, 2);
  for (let atMs = 0; atMs < 100; atMs++) window.add({ atMs });
  expect(window.at(100)).toEqual([{ atMs: 98 }, { atMs: 99 }]);
});
