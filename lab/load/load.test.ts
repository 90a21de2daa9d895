import { expect, it } from "vitest";

import { poissonArrivalsMs } from "./load.ts";
import { seededRandom } from "../seeded-random.ts";
import { meanOf, standardDeviationOf } from "../statistics.ts";

it("the last of n requests comes after n / rate seconds, whatever was drawn", () => {
  const arrivals = poissonArrivalsMs(40, 8, seededRandom(1));
  expect(arrivals).toHaveLength(40);
  expect(arrivals.at(-1)).toBeCloseTo(5000, 6);
  expect(arrivals).toEqual(arrivals.toSorted((a, b) => a - b));
});

it("gaps are spread as exponential ones are: their deviation is their mean", () => {
  const arrivals = poissonArrivalsMs(20_000, 10, seededRandom(2));
  const gaps = arrivals.map((at, i) => at - (arrivals[i - 1] ?? 0));
  expect(meanOf(gaps)).toBeCloseTo(100, 6);
  expect(standardDeviationOf(gaps) / meanOf(gaps)).toBeCloseTo(1, 1);
  // A share of 1 - 1/e of exponential gaps is below the mean.
  expect(gaps.filter((gap) => gap < 100).length / gaps.length).toBeCloseTo(1 - 1 / Math.E, 2);
});

it("the same seed gives the same arrivals, another seed others", () => {
  const draw = (seed: number) => poissonArrivalsMs(10, 5, seededRandom(seed));
  expect(draw(3)).toEqual(draw(3));
  expect(draw(3)).not.toEqual(draw(4));
});

it("an infinite rate is all at once", () => {
  expect(poissonArrivalsMs(3, Infinity, seededRandom(1))).toEqual([0, 0, 0]);
});
