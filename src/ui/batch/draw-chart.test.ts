import { expect, it } from "vitest";
import { roundUp } from "./draw-chart.ts";

it("an axis ends at a round number whose half is one, too", () => {
  expect([0.3, 1, 1.1, 3, 5, 9, 14, 445, 1729].map(roundUp).map((value) => Number(value.toPrecision(3)))).toEqual([
    0.3, 1, 1.2, 3, 5, 10, 16, 500, 2000,
  ]);
});
