import { useState, type ReactNode } from "react";
import { useStore } from "zustand";
import type { Batch } from "../../state/batch/batch.ts";
import { FIGURES_INTERVAL_MS } from "../../state/batch/batch-metrics.ts";
import { CHARTS_WINDOW_MS, type ChartSample, type Percentiles } from "../../state/batch/charts.ts";
import { chartsOf, type ChartData, type ChartSpec } from "./charts.ts";
import { Panel } from "./Panel.tsx";
import { stepUse } from "./BatchCounters.tsx";
import { DataTable } from "../components/DataTable.tsx";
import { formatCount, formatMs, formatRate } from "../format.ts";
import { drawChart, plotWidthOf } from "./draw-chart.ts";
import { Plot } from "./Plot.tsx";

/** Seconds that the charts show; few at first, so that there is something to see. */
const SPANS_S = [15, 30, CHARTS_WINDOW_MS / 1000];
const placesOf = (seconds: number) => (1000 * seconds) / FIGURES_INTERVAL_MS;

/** The last seconds, up to a minute. */
export function ChartsPanel({ batch }: { batch: Batch }) {
  const { samples, ttft, itl } = useStore(batch.charts.store);
  const figures = useStore(batch.metrics.store);
  const [{ ago, owner }, setCursor] = useState<Pick<ChartCursor, "ago" | "owner">>({ ago: null, owner: "" });
  const spanS = SPANS_S.find((seconds) => samples.length <= placesOf(seconds)) ?? CHARTS_WINDOW_MS / 1000;
  const when = ago ? `${((ago * FIGURES_INTERVAL_MS) / 1000).toFixed(2)} s ago` : "Now";
  const cursor: ChartCursor = { ago, when, owner, move: (to, by) => setCursor({ ago: to, owner: by }) };
  const lastStep = samples.findLast(({ stepMs }) => stepMs !== null);
  const data = { samples, newest: samples.at(-1), lastStep, figures };
  return (
    <Panel
      name="Charts"
      head={
        <>
          <dl className="flex gap-3 font-medium max-sm:hidden">
            {stepUse(figures).map(([name, value, title]) => (
              <div
                key={name}
                title={title}
                className="flex gap-1 last:max-xl:hidden [&>dd]:min-w-[4ch] [&>dd]:text-ink first:[&>dd]:min-w-[10ch] last:[&>dd]:min-w-[6ch]"
              >
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
          </dl>
          <span className="ms-auto">last {spanS} s</span>
        </>
      }
    >
      <div className="grid min-h-0 flex-1 gap-x-5 gap-y-1 [grid-template:repeat(2,minmax(0,1fr))_/_repeat(2,minmax(0,1fr))] max-sm:flex-none max-sm:grid-rows-[104px_104px]">
        {chartsOf(samples.some(({ gpuMs }) => gpuMs !== null)).map((chart, i) => (
          <Chart key={i} chart={chart} data={data} places={placesOf(spanS)} at={cursor} />
        ))}
      </div>
      <DataTable
        className="latency mt-1 flex-none t-12"
        columns={["Latency, ms", ...NAMES]}
        rows={[rowOf("TTFT", "Time to first token", ttft), rowOf("ITL", "Inter-token latency", itl)]}
      />
      <ChartsTable samples={samples} />
    </Panel>
  );
}

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
function ChartsTable({ samples }: { samples: readonly ChartSample[] }) {
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

const NAMES = ["p50", "p95", "p99"] as const;
/** The end of the bars' logarithmic scale, which shows how far apart the percentiles are. */
const LONGEST_MS = 10_000;

function rowOf(name: string, title: string, percentiles: Percentiles | null): readonly ReactNode[] {
  const widthOf = (ms: number) => Math.min(100, (100 * Math.log10(1 + ms)) / Math.log10(1 + LONGEST_MS));
  const words = (
    <span className="row h-4.5 pr-4 text-ink-2">
      <abbr className="w-9 no-underline" title={title}>
        {name}
      </abbr>
      <span className="relative h-1 flex-1" aria-hidden="true">
        {percentiles &&
          NAMES.toReversed().map((each) => (
            <i
              key={each}
              className="absolute inset-y-0 left-0 bg-line-strong nth-2:bg-ink-3 nth-3:bg-ink"
              style={{ width: `${widthOf(percentiles[each])}%` }}
            />
          ))}
      </span>
    </span>
  );
  return [words, ...NAMES.map((each) => (percentiles ? formatMs(percentiles[each]) : "–"))];
}

/** The place in time whose values all charts show. */
interface ChartCursor {
  /** Samples before the newest one; null if none is pointed at. */
  readonly ago: number | null;
  readonly when: string;
  /** Label of the chart that has it: the others only show it. */
  readonly owner: string;
  readonly move: (ago: number | null, owner: string) => void;
}

const VALUE = "inline-block min-w-[2ch] text-right text-ink [font:600_13px/16px_var(--sans)]";

/** A chart of the last minute below its current values, with the values under the pointer. */
function Chart({ chart, data, places, at }: { chart: ChartSpec; data: ChartData; places: number; at: ChartCursor }) {
  const { ago, when, owner, move } = at;
  const { label, name, value, unit, dotted, words } = chart;
  const count = data.samples.length;
  const pointed = ago === null ? undefined : data.samples.at(-1 - ago);
  const said = pointed ? `${when}: ${words(pointed)}` : "No moment";
  return (
    <div className="flex min-h-0 flex-col">
      <h4 className="flex h-5 flex-none items-baseline justify-between gap-2 t-12 whitespace-nowrap text-ink-3">
        <span className="only:contents">
          {name} <b className={VALUE}>{value(data)}</b>
          {unit}
        </span>
        {dotted && (
          <span>
            <u className="decoration-dotted underline-offset-3">{dotted.name}</u>{" "}
            <b className={VALUE}>{dotted.value(data)}</b>
          </span>
        )}
      </h4>
      <Plot
        className="min-h-0 min-w-0 flex-1"
        label={label}
        hint="Arrow keys move through time, Home and End to the oldest and the newest values."
        value={count - (ago ?? 0)}
        max={count}
        words={said}
        draw={(surface) => drawChart(surface, { chart, data, places, ago })}
        cursor={ago}
        onCursor={(next) => {
          move(next === null || count === 0 ? null : Math.max(0, Math.min(count - 1, next)), label);
        }}
        cellAt={({ x }, width) => Math.round((1 - x / plotWidthOf(width)) * (places - 1))}
        move={(columns, rows) => (rows === 0 ? (ago === null ? 0 : ago - columns) : undefined)}
        cardAt={
          ago === null || owner !== label
            ? null
            : (width, height) => ({ left: plotWidthOf(width) * (1 - ago / (places - 1)), top: 0, bottom: height })
        }
        card={<p>{said}</p>}
      />
    </div>
  );
}
