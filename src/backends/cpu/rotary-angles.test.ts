import { expect, it } from "vitest";

import { cosSin, rotaryTable } from "./rotary-angles.ts";

it("has cosines and sines in every quarter, near zero and far out", () => {
  for (const angle of [0, 1e-9, 0.5, 0.7853, 0.7855, 1.6, 3.1, 4.7, 6.3, -2.4, 1000.25, 131_071.9, 9e5]) {
    const [cos, sin] = cosSin(angle);
    expect(Math.abs(cos - Math.cos(angle)), `cos ${angle}`).toBeLessThan(1e-14);
    expect(Math.abs(sin - Math.sin(angle)), `sin ${angle}`).toBeLessThan(1e-14);
  }
});

it("has a position's cosines before its sines, scaled", () => {
  const table = rotaryTable({ inverseFrequencies: [1, 0.25], scaling: 2 }, 3);
  const expected = [2 * Math.cos(2), 2 * Math.cos(0.5), 2 * Math.sin(2), 2 * Math.sin(0.5)];
  expect([...table.slice(8)]).toEqual(expected.map(Math.fround));
});
