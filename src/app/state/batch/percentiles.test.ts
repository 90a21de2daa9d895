import { expect, it } from "vitest";
import { SlidingPercentiles } from "./percentiles.ts";

it("are the nearest ranks of what lies within the window", () => {
  const latencies = new SlidingPercentiles(1000, 500);
  expect(latencies.at(0)).toBeNull();
  for (let value = 100; value >= 1; value--) latencies.add(10, value);
  expect(latencies.at(10)).toEqual({ p50: 50, p95: 95, p99: 99 });
  latencies.add(500, 7);
  expect(latencies.at(1200)).toEqual({ p50: 7, p95: 7, p99: 7 });
  expect(latencies.at(1500)).toBeNull();
});

it("keep the newest where there are too many", () => {
  const latencies = new SlidingPercentiles(1000, 2);
  for (const value of [100, 1, 2]) latencies.add(0, value);
  expect(latencies.at(0)).toEqual({ p50: 1, p95: 2, p99: 2 });
});
