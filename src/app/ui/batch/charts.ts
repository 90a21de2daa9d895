import type { BatchFigures } from "../../state/batch/batch-metrics.ts";
import type { ChartSample } from "../../state/batch/charts.ts";
import { formatCount, formatMs, formatRate, orDash } from "../format.ts";

export interface ChartData {
  readonly samples: readonly ChartSample[];
  readonly newest: ChartSample | undefined;
  /** The newest one in which a step ended. */
  readonly lastStep: ChartSample | undefined;
  readonly figures: BatchFigures;
}

interface Line {
  readonly name: string;
  /** Its current value, and the unit behind it. */
  readonly value: (data: ChartData) => string;
  readonly unit?: string;
  /** Null breaks the line. */
  readonly read: (sample: ChartSample) => number | null;
}

export interface ChartSpec extends Line {
  /** Accessible name; the numbers are in the table, too. */
  readonly label: string;
  /** What lies below the line: a tint, or the streams, whose sum it is. */
  readonly below?: "tint" | "streams";
  readonly dotted?: Line;
  /** The axis reaches at least this. */
  readonly least: (newest: ChartSample | undefined) => number;
  readonly words: (sample: ChartSample) => string;
}

/** Returns the charts. @param hasGpuClock whether steps say how long the GPU computed */
export const chartsOf = (hasGpuClock: boolean): readonly ChartSpec[] => [
  {
    label: "Tokens per second, in total and of each stream",
    name: "Tokens/s",
    value: ({ figures }) => formatRate(figures.tokensPerSecond),
    read: ({ tokensPerSecond }) => tokensPerSecond,
    below: "streams",
    least: () => 10,
    words: rateWords,
  },
  {
    label: "Sequences in each step, and waiting sequences",
    name: "Sequences",
    value: ({ newest }) => formatCount(newest?.sequences ?? 0),
    read: ({ sequences }) => sequences,
    below: "tint",
    dotted: { name: "queue", value: ({ figures }) => formatCount(figures.waiting), read: ({ waiting }) => waiting },
    least: () => 4,
    words: ({ sequences, waiting }) => `${formatRate(sequences)} sequences per step, ${formatCount(waiting)} waiting`,
  },
  {
    label: hasGpuClock ? "Time per step on GPU and CPU" : "Time per step, and its share on the CPU",
    name: hasGpuClock ? "GPU" : "Step",
    value: ({ lastStep }) => orDash((hasGpuClock ? lastStep?.gpuMs : lastStep?.stepMs) ?? null, formatMs),
    unit: " ms",
    read: ({ gpuMs, stepMs }) => (hasGpuClock ? gpuMs : stepMs),
    dotted: {
      name: "CPU",
      value: ({ lastStep }) => orDash(lastStep?.cpuMs ?? null, formatMs),
      read: ({ cpuMs }) => cpuMs,
    },
    least: () => 1,
    words: timeWords,
  },
  {
    label: "Cache blocks: used, and used plus cached",
    name: "Cache",
    value: ({ newest }) => formatCount(newest?.blocksUsed ?? 0),
    unit: " used",
    read: ({ blocksUsed }) => blocksUsed,
    below: "tint",
    dotted: {
      name: "cached",
      value: ({ newest }) => formatCount(newest?.blocksCached ?? 0),
      read: ({ blocksUsed, blocksCached }) => blocksUsed + blocksCached,
    },
    least: (newest) => newest?.blocksTotal ?? 1,
    words: ({ blocksUsed, blocksCached, blocksTotal }) => {
      const free = blocksTotal - blocksUsed - blocksCached;
      return `${formatCount(blocksUsed)} blocks used, ${formatCount(blocksCached)} cached, ${formatCount(free)} free`;
    },
  },
];

function rateWords({ tokensPerSecond, byPane }: ChartSample): string {
  const panes = Object.entries(byPane).map(
    ([pane, rate]) => `${pane === "0" ? "others" : `Pane ${pane}`} ${formatRate(rate)}`,
  );
  return `${formatRate(tokensPerSecond)} tokens per second${panes.length > 1 ? ` (${panes.join(", ")})` : ""}`;
}

function timeWords({ stepMs, gpuMs, cpuMs }: ChartSample): string {
  if (stepMs === null) return "no step ended";
  const times = Object.entries({ Step: stepMs, GPU: gpuMs, CPU: cpuMs });
  return times.flatMap(([name, ms]) => (ms === null ? [] : `${name} ${formatMs(ms)} ms`)).join(", ");
}
