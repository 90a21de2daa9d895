// Whatever the bounds: a number is taken if it is within them as a double, and has no more digits than it may.

import fc from "fast-check";
import { expect, test } from "vitest";

import { numbersWithin } from "./decimal-range.ts";

const NONE = { minimum: -Infinity, maximum: Infinity, exclusiveMinimum: -Infinity, exclusiveMaximum: Infinity };
const LIMITS = ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] as const;
const isWithin = (value: number, bounds: typeof NONE) =>
  value >= bounds.minimum &&
  value <= bounds.maximum &&
  (value > bounds.exclusiveMinimum || bounds.exclusiveMinimum === -Infinity) &&
  (value < bounds.exclusiveMaximum || bounds.exclusiveMaximum === Infinity);

const bound = fc.oneof(
  fc.integer({ min: -1200, max: 1200 }),
  fc.integer({ min: -120, max: 120 }).map((value) => value / 100),
  fc.double({ min: -1e6, max: 1e6, noNaN: true }),
  fc.double({ min: -1e-4, max: 1e-4, noNaN: true }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(1e-6, 1e21, -1e21, 2 ** 53 - 1, 1 - 2 ** 53, 5e-324, Number.MAX_VALUE, 2 ** 53, 3e-7),
);
const boundsOf = fc
  .tuple(fc.uniqueArray(fc.constantFrom(...LIMITS), { minLength: 1 }), bound, bound, bound, bound)
  .map(([names, ...values]) => ({
    ...NONE,
    ...Object.fromEntries(names.map((name, i) => [name, (values[i] ?? 0) + 0])),
  }));

/** Texts of numbers at the bounds, beside them, and elsewhere. */
function textsNear(bounds: typeof NONE): string[] {
  const values = Object.values(bounds).filter(Number.isFinite);
  const near = values.flatMap((value) => [
    value,
    -value,
    value / 2,
    value * 2,
    value + 1,
    value - 1,
    value + 0.01,
    value - 0.01,
  ]);
  return [...near, 0, 0.5, 7, -3.25, 100].flatMap((value) => [
    ...(Math.abs(value) < 1e14 ? [0, 1, 2, 5, 10].map((decimals) => value.toFixed(decimals)) : []),
    ...(Number.isFinite(value) ? [String(value)] : []),
  ]);
}
const digitsOf = (text: string) =>
  text
    .replace(/^-?0?|e.*$/g, "")
    .replace(".", "")
    .replace(/^0+/, "").length;
const zerosOf = (text: string) => /^-?0\.(0*)/.exec(text)?.[1]?.length ?? 0;

test("numbers within any bounds", () => {
  fc.assert(
    fc.property(boundsOf, (bounds) => {
      const numbers = numbersWithin(bounds, false);
      for (const text of textsNear(bounds)) {
        if (/^-0(\.0*)?$/.test(text) || (text.includes(".") && (zerosOf(text) > 16 || digitsOf(text) > 17))) continue;
        expect([text, numbers.has(text)]).toEqual([text, isWithin(Number(text), bounds)]);
      }
    }),
    { numRuns: 150, seed: 4 },
  );
});

test("whole numbers within any bounds", () => {
  fc.assert(
    fc.property(boundsOf, (bounds) => {
      const numbers = numbersWithin(bounds, true);
      for (const text of textsNear(bounds)) {
        const isWhole = /^(0|-?[1-9](\d{0,20}|(\.\d+)?e\+\d+))$/.test(text);
        expect([text, numbers.has(text)]).toEqual([text, isWhole && isWithin(Number(text), bounds)]);
      }
    }),
    { numRuns: 150, seed: 4 },
  );
});
