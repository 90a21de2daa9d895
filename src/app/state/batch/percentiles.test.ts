import { expect, it } from "vitest";
import { percentilesOf } from "./charts.ts";

it("are the nearest ranks of the values", () => {
  expect(percentilesOf([])).toBeNull();
  expect(percentilesOf([7])).toEqual({ p50: 7, p95: 7, p99: 7 });
  expect(percentilesOf(Array.from({ length: 100 }, (_, i) => 100 - i))).toEqual({ p50: 50, p95: 95, p99: 99 });
});
