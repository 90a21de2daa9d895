import { expect, it } from "vitest";
import { axisLabel, roundUp } from "./draw-chart.ts";

it("an axis ends at a round number whose half is one, too", () => {
  expect([0.3, 1, 1.1, 3, 5, 9, 14, 445, 1729].map(roundUp).map((value) => Number(value.toPrecision(3)))).toEqual([
    0.3, 1, 1.2, 3, 5, 10, 16, 500, 2000,
  ]);
});

it("an axis has labels of at most four characters", () => {
  const labels = [0, 0.15, 0.6, 1.2, 5, 800, 1200, 1600, 20_000, 500_000].map(axisLabel);
  expect(labels).toEqual(["0", "0.15", "0.6", "1.2", "5", "800", "1.2k", "1.6k", "20k", "500k"]);
});
