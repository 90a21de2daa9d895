import { describe, expect, it } from "vitest";

import {
  growthExponent,
  meanOf,
  medianOf,
  mediansOf,
  percentileOf,
  spreadOf,
  standardDeviationOf,
} from "./statistics.ts";

describe("percentiles, in a straight line between two values as numpy's are", () => {
  const values = [15, 20, 35, 40, 50];
  it.each([
    [0, 15],
    [25, 20],
    [40, 29],
    [50, 35],
    [95, 48],
    [99, 49.6],
    [100, 50],
  ])("the %ith of 15, 20, 35, 40, 50 is %d", (percent, expected) => {
    expect(percentileOf(values.toReversed(), percent)).toBeCloseTo(expected, 12);
  });

  it("of one value are that value, and of none nothing", () => {
    expect(percentileOf([7], 99)).toBe(7);
    expect(percentileOf([], 50)).toBeNaN();
  });
});

it("the median of an even number lies between the two in the middle", () => {
  expect(medianOf([1, 2, 4, 100])).toBe(3);
});

it("the deviation is that of the values, not an estimate: divided by n", () => {
  expect(meanOf([2, 4, 4, 4, 5, 5, 7, 9])).toBe(5);
  expect(standardDeviationOf([2, 4, 4, 4, 5, 5, 7, 9])).toBe(2);
});

it("takes the median of each number of rounds, and none of what a round lacks", () => {
  const round = (ms: number, gpuMs: number | null) => ({ ms, gpuMs, ahead: [{ depth: 1, ms: 2 * ms }] });
  const rounds = [round(1, 4), round(5, null), round(3, 6)];
  expect(mediansOf(rounds)).toEqual({ ms: 3, gpuMs: null, ahead: [{ depth: 1, ms: 6 }] });
});

it("the spread is half the range, as a part of the median", () => {
  expect(spreadOf([9, 10, 12])).toBeCloseTo(0.15, 12);
});

it.each([
  [0, 5],
  [1, 3],
  [2, 0.5],
])("finds that y grows as x to the %d", (exponent, factor) => {
  const points = [1, 2, 8, 64].map((x) => [x, factor * x ** exponent] as const);
  expect(growthExponent([...points, [3, 0]])).toBeCloseTo(exponent, 12);
});
