import { FIGURES_INTERVAL_MS } from "../../state/batch/batch-metrics.ts";
import type { ChartSample } from "../../state/batch/charts.ts";
import { DataTable } from "../components/DataTable.tsx";
import { formatCount, formatMs, formatRate } from "../format.ts";

const COLUMNS: readonly (readonly [name: string, read: (sample: ChartSample) => string])[] = [
  ["Tokens per second", ({ tokensPerSecond }) => formatRate(tokensPerSecond)],
  ["Sequences per step", ({ sequences }) => formatRate(sequences)],
  ["Waiting", ({ waiting }) => formatCount(waiting)],
  ["Blocks used", ({ blocksUsed }) => formatCount(blocksUsed)],
  ["Blocks cached", ({ blocksCached }) => formatCount(blocksCached)],
  ["Step, ms", ({ stepMs }) => (stepMs === null ? "none" : formatMs(stepMs))],
  ["GPU, ms", ({ gpuMs }) => (gpuMs === null ? "none" : formatMs(gpuMs))],
  ["CPU, ms", ({ cpuMs }) => (cpuMs === null ? "none" : formatMs(cpuMs))],
];

/** Seconds between two rows. */
const EVERY_S = 10;

/** The charts' figures for screen readers. */
export function ChartsTable({ samples }: { samples: readonly ChartSample[] }) {
  const every = (EVERY_S * 1000) / FIGURES_INTERVAL_MS;
  const shown = Array.from({ length: Math.ceil(samples.length / every) }, (_, i) => samples.at(-1 - i * every));
  const rows = shown.flatMap((sample, i) => {
    const when = i === 0 ? "now" : `${i * EVERY_S} s ago`;
    return sample ? [[when, ...COLUMNS.map(([, read]) => read(sample))]] : [];
  });
  return (
    <DataTable caption="Charts of the last minute" columns={["When", ...COLUMNS.map(([name]) => name)]} rows={rows} />
  );
}
