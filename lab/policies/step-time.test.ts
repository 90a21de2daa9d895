import { expect, it } from "vitest";

import { seededRandom } from "../seeded-random.ts";
import { sampleEntry, sampleStep } from "../../tests/requests/sample-reports.ts";
import { fitStepTime, stepMsOf } from "./step-time.ts";

const MODEL = { baseMs: 3, perRowMs: 0.5, perAttendedMs: 0.01 };

function steps(noise: (random: number) => number) {
  const random = seededRandom(1);
  return Array.from({ length: 300 }, () => {
    const entries = Array.from({ length: 1 + Math.floor(8 * random()) }, () =>
      sampleEntry("a", { start: Math.floor(400 * random()), rows: random() < 0.2 ? Math.floor(40 * random()) + 1 : 1 }),
    );
    const rows = entries.reduce((sum, entry) => sum + entry.rows, 0);
    // Row by row: a row attends to all positions before it, and to its own.
    const attended = entries
      .flatMap((entry) => Array.from({ length: entry.rows }, (_, i) => entry.start + i + 1))
      .reduce((sum, positions) => sum + positions, 0);
    return sampleStep({ entries, stepMs: stepMsOf(MODEL, { rows, attended }) * noise(random()) });
  });
}

it("finds what the steps were made of", () => {
  const { model, error } = fitStepTime(steps(() => 1));
  expect(model.baseMs).toBeCloseTo(3, 2);
  expect(model.perRowMs).toBeCloseTo(0.5, 2);
  expect(model.perAttendedMs).toBeCloseTo(0.01, 3);
  expect(error).toBeLessThan(0.001);
});

it("is not misled by steps that were held up", () => {
  const { model, error } = fitStepTime(steps((random) => (random < 0.2 ? 10 : 1)));
  expect(model.baseMs).toBeCloseTo(3, 1);
  expect(model.perRowMs).toBeCloseTo(0.5, 1);
  expect(error).toBeLessThan(0.01);
});

it("has no negative parts", () => {
  const { model } = fitStepTime(
    [1, 2, 3].map((rows) => sampleStep({ stepMs: 7 - rows, entries: [sampleEntry("a", { rows })] })),
  );
  expect(Math.min(...Object.values(model))).toBeGreaterThanOrEqual(0);
});
