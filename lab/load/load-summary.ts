// Figures of several runs of one load: medians over the runs.

import type { StepReport } from "../../src/protocol/reports.ts";
import { servingMetrics, type LoadRun, type ServingMetrics } from "./serving-metrics.ts";
import { medianOf, spreadOf, sumOf } from "../statistics.ts";

/** Returns the medians of figures over the runs, and the spread of the output throughput: the x of "±x". */
export function summarise(runs: readonly LoadRun[]) {
  const metrics = runs.map(servingMetrics);
  return {
    median: (pick: (metrics: ServingMetrics) => number) => medianOf(metrics.map(pick)),
    spread: spreadOf(metrics.map(({ output_throughput }) => output_throughput)),
  };
}

/** Returns the steps in which all of `sequences` decoded and no prompt was computed. */
export function decodeSteps(steps: readonly StepReport[], sequences: number): StepReport[] {
  return steps.filter(({ promptRows, entries }) => promptRows === 0 && entries.length === sequences);
}

/** Returns the figures of steps of the same kind. `gpuMs` is null if the adapter can't time itself. */
export function stepFigures(steps: readonly StepReport[]) {
  const gpuTimes = steps.flatMap(({ gpuMs }) => gpuMs ?? []);
  return {
    tokensPerSecond: (1000 * sumOf(steps.map((step) => step.sampledTokens))) / sumOf(steps.map(({ stepMs }) => stepMs)),
    stepMs: medianOf(steps.map(({ stepMs }) => stepMs)),
    cpuMs: medianOf(steps.map(({ cpuMs }) => cpuMs)),
    gpuMs: gpuTimes.length > 0 ? medianOf(gpuTimes) : null,
  };
}
