import fc from "fast-check";
import { expect, it } from "vitest";
import { SortedWindow } from "./sorted-window.ts";

it("has the last values in order", () => {
  const values = fc.array(fc.oneof(fc.integer({ min: 0, max: 5 }), fc.double({ noNaN: true })), { maxLength: 30 });
  fc.assert(
    fc.property(values, fc.integer({ min: 1, max: 8 }), (pushed, size) => {
      const window = new SortedWindow(size);
      for (const [i, value] of pushed.entries()) {
        window.push(value);
        const last = pushed.slice(Math.max(0, i + 1 - size), i + 1).toSorted((a, b) => a - b);
        expect(window.length).toBe(last.length);
        // Zeros of both signs are equal to every comparison.
        expect(last.map((_, place) => (window.at(place) ?? NaN) + 0)).toEqual(last.map((one) => one + 0));
        expect(window.at(last.length)).toBeNull();
      }
    }),
  );
});
