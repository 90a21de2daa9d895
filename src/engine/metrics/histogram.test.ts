import { expect, it } from "vitest";

import { Histogram, oneTwoFiveBounds } from "./histogram.ts";

it("counts a value in the first bucket whose bound it does not exceed", () => {
  const histogram = new Histogram([1, 2, 5]);
  for (const value of [0, 1, 1.5, 2, 5, 5.1, 100]) histogram.observe(value);
  expect(histogram.cumulativeCounts()).toEqual([2, 4, 5, 7]);
  expect(histogram.count).toBe(7);
  expect(histogram.sum).toBeCloseTo(114.6);
});

it("has bounds of 1, 2 and 5 times the powers of ten", () => {
  expect(oneTwoFiveBounds(100)).toEqual([1, 2, 5, 10, 20, 50, 100]);
  expect(oneTwoFiveBounds(256)).toEqual([1, 2, 5, 10, 20, 50, 100, 200]);
});
