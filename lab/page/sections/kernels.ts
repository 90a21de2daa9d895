import type { BenchContext, Section } from "../bench-context.ts";
import type { ResultTable } from "../../report/bench-result.ts";
import { formatFigure } from "../../report/format-figure.ts";
import type { KernelClass, KernelCost } from "../../kernels/kernel-cost.ts";
import type { KernelTime, KernelTimes, StepCase, StepTimes } from "../../kernels/kernel-lab.ts";
import { chartOf, tableOf } from "../../report/tables-and-charts.ts";
import { sumOf } from "../../statistics.ts";

const CLASSES: readonly KernelClass[] = ["matmul", "attention", "head and sampling", "the rest"];
const DECODE_ROWS = [1, 4, 8, 16, 32];
const QUICK_DECODE_ROWS = [1, 8];
const PREFILL_ROWS = 128;
const QUICK_PREFILL_ROWS = 32;

export const kernelsSection: Section = {
  needsWebGpu: true,
  about:
    "The dispatches that steps really have, each kind repeated by itself on the engine's own buffers. Bytes and operations " +
    "are the least the kernel must move and compute; the limit is the longer of the two at the speed of a copy and of a " +
    "multiplication in registers.",
  async run(context) {
    const { options, source, model, leftMs } = context;
    context.progress(0, "loading");
    const cases = stepCases(context);
    const run = { model: source, config: { dtype: model.dtype }, cases, rounds: options.repeats, mostMs: leftMs };
    const times = await context.measureKernels(run, (share) => context.progress(share, "kernels, in rounds"));
    context.noteLeftOut(cases.slice(times.steps.length).map((step) => nameOf({ step })));
    const decodes = times.steps.filter(({ step }) => step.kind === "decode");
    return {
      headlines: [
        [`${formatFigure(times.copyBytesPerSecond / 1e9)} GB/s`, "a copy"],
        [`${formatFigure(times.multiplyFlopsPerSecond / 1e9)} GFLOP/s`, "multiplications in registers"],
        [`${formatFigure(1000 * times.dispatchMs)} µs`, "an empty dispatch"],
        [String(decodes[0]?.dispatches ?? 0), "dispatches a step"],
      ],
      charts: [
        chartOf(
          "Where a decode step goes, ms",
          { x: "sequences at once", y: "ms per step", xScale: "log" },
          Object.fromEntries(
            CLASSES.map((name) => [name, decodes.map((times_) => [times_.step.rows, classMs(times_, name)] as const)]),
          ),
        ),
      ],
      tables: [whereItGoes(times.steps), modelTable(times), ...times.steps.map((step) => kernelTable(step, times))],
      notes: [
        "Kernels whose weights fit the adapter's cache can read faster than a copy of a large buffer does.",
        "For kernels without bytes and operations (norms, writing the cache, sampling) only the time is shown.",
      ],
    };
  },
};

function stepCases({ options, model }: BenchContext): StepCase[] {
  const { quick, promptTokens } = options;
  const context = Math.min(promptTokens, model.contextLength - 2);
  const rows = Math.min(quick ? QUICK_PREFILL_ROWS : PREFILL_ROWS, model.contextLength - 1);
  return [
    ...(quick ? QUICK_DECODE_ROWS : DECODE_ROWS).map((count): StepCase => ({ kind: "decode", rows: count, context })),
    { kind: "prefill", rows, context: 0 },
  ];
}

function nameOf({ step }: Pick<StepTimes, "step">): string {
  return step.kind === "decode" ? `decode of ${step.rows}` : `prompt of ${step.rows}`;
}

function classMs({ kernels }: StepTimes, name: KernelClass): number {
  return sumOf(kernels.filter((kernel) => kernel.class === name).map(({ ms, dispatches }) => ms * dispatches));
}

function whereItGoes(steps: readonly StepTimes[]): ResultTable {
  return tableOf("Where a step goes, ms", steps, {
    Step: nameOf,
    dispatches: (step) => step.dispatches,
    ...Object.fromEntries(CLASSES.map((name) => [name, (step: StepTimes) => classMs(step, name)])),
    sum: (step) => sumOf(CLASSES.map((name) => classMs(step, name))),
    "all in one pass": (step) => step.passMs,
  });
}

/** Least time: its bytes at the speed of a copy, its operations at the speed of a multiplication in registers. */
function limitsMs(cost: KernelCost, times: KernelTimes): [bytesMs: number, flopsMs: number] {
  return [(1000 * cost.bytes) / times.copyBytesPerSecond, (1000 * cost.flops) / times.multiplyFlopsPerSecond];
}

function modelTable(times: KernelTimes): ResultTable {
  return {
    title:
      "A step by the model, ms: its dispatches, and for each kernel its bytes or its operations, whichever take longer",
    columns: ["Step", "empty dispatches", "bytes", "operations", "model", "measured", "model, % of it"],
    rows: times.steps.map((step) => {
      const emptyMs = step.dispatches * times.dispatchMs;
      const limits = step.kernels.flatMap(({ cost, dispatches }) =>
        cost ? [limitsMs(cost, times).map((ms) => dispatches * ms) as [number, number]] : [],
      );
      const bytesMs = sumOf(limits.map(([ms, flopsMs]) => (ms >= flopsMs ? ms : 0)));
      const flopsMs = sumOf(limits.map(([ms, ofFlops]) => (ms >= ofFlops ? 0 : ofFlops)));
      const modelMs = emptyMs + bytesMs + flopsMs;
      const share = Math.round((100 * modelMs) / step.passMs);
      return [nameOf(step), emptyMs, bytesMs, flopsMs, modelMs, step.passMs, share];
    }),
  };
}

function kernelTable(step: StepTimes, times: KernelTimes): ResultTable {
  const { copyBytesPerSecond, multiplyFlopsPerSecond } = times;
  /** A figure of kernels that have bytes and operations. */
  const ofCost =
    (figureOf: (cost: KernelCost, ms: number) => number) =>
    ({ cost, ms }: KernelTime) =>
      cost && figureOf(cost, ms);
  const bytesPerSecond = ({ bytes }: KernelCost, ms: number) => (1000 * bytes) / ms;
  const flopsPerSecond = ({ flops }: KernelCost, ms: number) => (1000 * flops) / ms;
  const percent = (share: number) => Math.round(100 * share);
  return tableOf(`Kernels of a ${nameOf(step)}`, step.kernels, {
    Kernel: ({ kernel }) => kernel,
    shape: shapeOf,
    dispatches: ({ dispatches }) => dispatches,
    "ms each": ({ ms }) => ms,
    "GB/s": ofCost((...given) => bytesPerSecond(...given) / 1e9),
    "of copy, %": ofCost((...given) => percent(bytesPerSecond(...given) / copyBytesPerSecond)),
    "GFLOP/s": ofCost((...given) => flopsPerSecond(...given) / 1e9),
    "of multiply, %": ofCost((...given) => percent(flopsPerSecond(...given) / multiplyFlopsPerSecond)),
    "of the limit, %": ofCost((cost, ms) => percent(Math.max(...limitsMs(cost, times)) / ms)),
  });
}

function shapeOf({ constants }: KernelTime): string {
  const { K4, N4, HEADS, HEAD_SIZE, WIDTH } = constants;
  if (K4 !== undefined && N4 !== undefined) return `${4 * K4} × ${4 * N4}`;
  if (HEADS !== undefined) return `${HEADS} heads of ${HEAD_SIZE}`;
  return WIDTH === undefined ? "" : `${WIDTH} wide`;
}
