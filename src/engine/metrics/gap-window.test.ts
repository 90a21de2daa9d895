import fc from "fast-check";
import { expect, it } from "vitest";
import { GapWindow } from "./gap-window.ts";

const MAX_STEPS = 5;

it("counts the longer ones of the last steps, whatever the thresholds were before", () => {
  const step = fc.record({
    gapsMs: fc.array(fc.integer({ min: 0, max: 9 }), { maxLength: 4 }),
    thresholdMs: fc.option(fc.integer({ min: 0, max: 9 })),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const window = new GapWindow(MAX_STEPS);
      const pushed: number[][] = [];
      for (const { gapsMs, thresholdMs } of steps) {
        window.push(gapsMs);
        pushed.push(gapsMs);
        const last = pushed.slice(-MAX_STEPS).flat();
        expect(window.all()).toEqual(last);
        expect(window.count).toBe(last.length);
        expect(window.numSteps).toBe(Math.min(pushed.length, MAX_STEPS));
        if (thresholdMs === null) continue;
        expect(window.longerThan(thresholdMs)).toBe(last.filter((gapMs) => gapMs > thresholdMs).length);
      }
    }),
  );
});
