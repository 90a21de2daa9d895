// Figures of several runs of one load: medians over the runs.

import type { StepReport } from "../../src/protocol/reports.ts";
import { servingMetrics, type LoadRun, type ServingMetrics } from "./serving-metrics.ts";
import { medianOf, spreadOf, sumOf } from "../statistics.ts";

interface LoadSummary {
  readonly runs: readonly ServingMetrics[];
  /** Returns the median of a figure over the runs. */
  readonly median: (pick: (metrics: ServingMetrics) => number) => number;
  /** Spread of the output throughput: the x of "±x". */
  readonly spread: number;
}

export function summarise(runs: readonly LoadRun[]): LoadSummary {
  const metrics = runs.map(servingMetrics);
  return {
    runs: metrics,
    median: (pick) => medianOf(metrics.map(pick)),
    spread: spreadOf(metrics.map(({ output_throughput }) => output_throughput)),
  };
}

/** Returns the steps in which all of `sequences` decoded and no prompt was computed. */
export function decodeSteps(steps: readonly StepReport[], sequences: number): StepReport[] {
  return steps.filter(({ promptRows, entries }) => promptRows === 0 && entries.length === sequences);
}

interface StepFigures {
  readonly tokensPerSecond: number;
  readonly stepMs: number;
  readonly cpuMs: number;
  /** null if the adapter can't time itself. */
  readonly gpuMs: number | null;
}

/** Returns the figures of steps of the same kind. */
export function stepFigures(steps: readonly StepReport[]): StepFigures {
  const gpuTimes = steps.flatMap(({ gpuMs }) => gpuMs ?? []);
  return {
    tokensPerSecond: (1000 * sumOf(steps.map((step) => step.sampledTokens))) / sumOf(steps.map(({ stepMs }) => stepMs)),
    stepMs: medianOf(steps.map(({ stepMs }) => stepMs)),
    cpuMs: medianOf(steps.map(({ cpuMs }) => cpuMs)),
    gpuMs: gpuTimes.length > 0 ? medianOf(gpuTimes) : null,
  };
}
