import { describe, expect, it } from "vitest";
import { SlidingMax, SlidingRate } from "./sliding-window.ts";

describe("SlidingRate", () => {
  it("measures a burst from its own beginning", () => {
    const rate = new SlidingRate(2000);
    rate.add(0, 10, 4);
    rate.add(10, 20, 4);
    expect(rate.at(20)).toBe(400);
  });

  it("forgets what left the window and falls to zero", () => {
    const rate = new SlidingRate(2000);
    for (let atMs = 10; atMs <= 5000; atMs += 10) rate.add(atMs - 10, atMs, 1);
    expect(rate.at(5000)).toBe(100);
    expect(rate.at(6000)).toBe(50);
    expect(rate.at(7000)).toBe(0);
  });
});

describe("SlidingMax", () => {
  it("keeps the largest value until it is too old, then the next largest since", () => {
    const max = new SlidingMax(60_000);
    max.add(0, 1);
    max.add(1000, 4);
    max.add(2000, 2);
    max.add(3000, 1);
    expect(max.at(3000)).toBe(4);
    expect(max.at(61_000)).toBe(2);
    expect(max.at(62_500)).toBe(1);
    expect(max.at(63_000)).toBe(0);
  });
});
