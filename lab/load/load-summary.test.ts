import { expect, it } from "vitest";

import type { StepReport } from "../../src/protocol/reports.ts";
import { decodeSteps, stepFigures } from "./load-summary.ts";

const step = (sequences: number, promptRows: number, stepMs: number, gpuMs: number | null = null) =>
  ({
    promptRows,
    entries: Array.from({ length: sequences }),
    sampledTokens: sequences,
    stepMs,
    cpuMs: 1,
    gpuMs,
  }) as unknown as StepReport;

it("counts only steps in which all decode and nobody's prompt is computed", () => {
  const steps = [step(4, 60, 90), step(4, 0, 10), step(4, 0, 30), step(3, 0, 9)];
  const counted = decodeSteps(steps, 4);
  expect(counted).toEqual([steps[1], steps[2]]);
  expect(stepFigures(counted)).toEqual({ tokensPerSecond: 200, stepMs: 20, cpuMs: 1, gpuMs: null });
});

it("has the GPU's time where the adapter tells it", () => {
  expect(stepFigures([step(1, 0, 10, 7), step(1, 0, 10, 9)]).gpuMs).toBe(8);
});
