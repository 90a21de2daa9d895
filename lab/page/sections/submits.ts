import type { Section } from "../bench-context.ts";
import type { SubmitCosts } from "../../kernels/submit-costs.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { formatFigure } from "../../report/format-figure.ts";

/** A step's fixed costs on this adapter and in this browser. */
export const submitsSection: Section = {
  id: "submits",
  needsWebGpu: true,
  title: "Submits",
  about:
    "Steps of dispatches that do next to nothing: recording and submitting them, and waiting for their results. No model is " +
    "involved.",
  async run(context) {
    const { signal, options, leftMs } = context;
    const costs = await context.withKernelLab(signal, (lab) => lab.submits(options.repeats, leftMs));
    const { dispatches, ahead } = costs;
    return {
      headlines: [
        { value: us(costs.dispatchMs), label: "a dispatch on the GPU" },
        { value: us(dispatches * costs.recordDispatchMs + costs.submitMs), label: "to record and submit a step" },
        { value: `${formatFigure(costs.readBack.medianMs)} ms`, label: "from a submit to its result" },
      ],
      charts: [
        chartOf(
          "Time of an empty step by the steps that run ahead",
          { x: "steps ahead", y: "ms per step" },
          { "empty steps": ahead.map(({ depth, stepMs }) => [depth, stepMs]) },
        ),
      ],
      tables: [costsTable(costs), aheadTable(costs)],
      data: costs,
    };
  },
};

function us(ms: number): string {
  return `${formatFigure(1000 * ms)} µs`;
}

function costsTable(costs: SubmitCosts) {
  const { dispatches, recordDispatchMs, recordPassMs, submitMs, dispatchMs, readBack, workDone } = costs;
  return {
    title: "Overhead beside computing, µs",
    columns: ["What", "median", "p95"],
    rows: (
      [
        ["JavaScript records a dispatch", recordDispatchMs, null],
        ["JavaScript records a pass without any", recordPassMs, null],
        [`JavaScript submits a step of ${dispatches} dispatches`, submitMs, null],
        ["the GPU computes a dispatch after the one before", dispatchMs, null],
        ["a submitted dispatch's result is in JavaScript", readBack.medianMs, readBack.p95Ms],
        ["the queue says that a submitted dispatch is done", workDone.medianMs, workDone.p95Ms],
      ] as const
    ).map(([what, ms, p95Ms]) => [what, 1000 * ms, p95Ms === null ? null : 1000 * p95Ms]),
  };
}

function aheadTable({ dispatches, ahead, dispatchMs }: SubmitCosts) {
  return tableOf(`An empty step of ${dispatches} dispatches, whose result is read back`, ahead, {
    "Steps ahead": ({ depth }) => depth,
    "ms per step": ({ stepMs }) => stepMs,
    "beside its dispatches, ms": ({ stepMs }) => Math.max(0, stepMs - dispatches * dispatchMs),
  });
}
