import { expect, it } from "vitest";
import {
  formatBytes,
  formatBytesOf,
  formatCounted,
  formatDuration,
  formatOrdinal,
  formatRate,
  formatTimeLeft,
} from "./format.ts";

it("writes a rate with three digits at most before it groups thousands", () => {
  expect([0, 4.24, 38.5, 99.96, 445.4, 1729].map(formatRate)).toEqual(["0", "4.2", "38.5", "100", "445", "1,729"]);
});

it("writes a time in the unit that needs few digits", () => {
  expect([0, 104.4, 999.4, 999.5, 12_345].map(formatDuration)).toEqual(["0 ms", "104 ms", "999 ms", "1.0 s", "12.3 s"]);
});

it("writes bytes done in the unit of the whole", () => {
  expect(formatBytes(8_500_000)).toBe("8.5 MB");
  expect(formatBytesOf(162e6, 249e6)).toBe("162 of 249 MB");
  expect(formatBytesOf(400e6, 1.4e9)).toBe("0.4 of 1.4 GB");
});

it("writes places in a queue", () => {
  expect([1, 2, 3, 4, 11, 12, 21, 113, 1002].map(formatOrdinal)).toEqual([
    "1st",
    "2nd",
    "3rd",
    "4th",
    "11th",
    "12th",
    "21st",
    "113th",
    "1,002nd",
  ]);
});

it("never says that nothing is left", () => {
  expect(formatTimeLeft(20)).toBe("1 s left");
  expect(formatTimeLeft(240_000)).toBe("4 min left");
});

it("writes a number with its noun", () => {
  expect([0, 1, 2, 1729].map((count) => formatCounted(count, "token"))).toEqual([
    "0 tokens",
    "1 token",
    "2 tokens",
    "1,729 tokens",
  ]);
});
