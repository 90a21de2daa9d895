import { useState } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { FIGURES_INTERVAL_MS } from "../../state/batch/batch-metrics.ts";
import { CHARTS_WINDOW_MS, type ChartSample } from "../../state/batch/charts.ts";
import type { ChartDrawing } from "./draw-chart.ts";
import type { CanvasColors } from "./canvas-colors.ts";
import { formatCount, formatMs, formatRate, orDash } from "../format.ts";
import { useStore } from "../use-store.ts";
import { isOutlined } from "../voice.ts";
import { Chart, type ChartCursor } from "./Chart.tsx";
import css from "./ChartsPanel.module.css";
import { ChartsTable } from "./ChartsTable.tsx";
import { LatencyFigures } from "./LatencyFigures.tsx";
import panel from "./Panel.module.css";
import { StepUse } from "./StepUse.tsx";

/** Seconds that the charts show; few at first, so that there is something to see. */
const SPANS_S = [15, 30, CHARTS_WINDOW_MS / 1000];

/** The last seconds, up to a minute. */
export function ChartsPanel({ batch }: { batch: Batch }) {
  const { samples, ttft, itl } = useStore(batch.charts.store);
  const figures = useStore(batch.metrics.store);
  const now = samples.at(-1);
  const placesOf = (seconds: number) => (1000 * seconds) / FIGURES_INTERVAL_MS;
  const spanS = SPANS_S.find((seconds) => samples.length <= placesOf(seconds)) ?? CHARTS_WINDOW_MS / 1000;
  const places = placesOf(spanS);
  const series = (colors: CanvasColors, pick: (sample: ChartSample) => number | null, changes = {}) => ({
    values: samples.map(pick),
    color: colors.ink,
    ...changes,
  });
  const [{ ago, owner }, setCursor] = useState<Pick<ChartCursor, "ago" | "owner">>({ ago: null, owner: "" });
  const move: ChartCursor["move"] = (to, by) => setCursor({ ago: to, owner: by });
  const cursor = { ago, owner, move, count: samples.length, places };
  const pointed = ago === null ? undefined : samples.at(-1 - ago);
  const wordsOf = (notify: (sample: ChartSample) => string) =>
    pointed ? `${whenOf(ago ?? 0)}: ${notify(pointed)}` : "No moment";
  const lastStep = samples.findLast(({ stepMs }) => stepMs !== null);
  const hasGpuClock = samples.some(({ gpuMs }) => gpuMs !== null);

  return (
    <section className={panel.panel} aria-label="Charts" tabIndex={-1}>
      <div className={panel.head}>
        <h3>Charts</h3>
        <dl className={css.use}>
          <StepUse metrics={batch.metrics} />
        </dl>
        <span className="end">last {spanS} s</span>
      </div>
      <div className={css.charts}>
        <Chart
          title={
            <>
              Tokens/s <b>{formatRate(figures.tokensPerSecond)}</b>
            </>
          }
          label="Tokens per second, in total and of each stream"
          cursor={cursor}
          words={wordsOf(rateWords)}
          drawing={(colors) => ({
            places,
            stack: voiceStack(samples, colors),
            series: [series(colors, (sample) => sample.tokensPerSecond, { widthPx: 1.75 })],
            least: 10,
          })}
        />
        <Chart
          title={pair("Sequences", formatCount(now?.sequences ?? 0), "", "queue", formatCount(figures.waiting))}
          label="Sequences in each step, and waiting sequences"
          cursor={cursor}
          words={wordsOf(
            ({ sequences, waiting }) => `${formatRate(sequences)} sequences per step, ${formatCount(waiting)} waiting`,
          )}
          drawing={(colors) => ({
            places,
            series: [
              series(colors, (sample) => sample.sequences, { fill: colors.surface2 }),
              series(colors, (sample) => sample.waiting, { color: colors.ink2, dash: [2, 3] }),
            ],
            least: 4,
          })}
        />
        <Chart
          title={pair(
            hasGpuClock ? "GPU" : "Step",
            orDash((hasGpuClock ? lastStep?.gpuMs : lastStep?.stepMs) ?? null, formatMs),
            " ms",
            "CPU",
            orDash(lastStep?.cpuMs ?? null, formatMs),
          )}
          cursor={cursor}
          words={wordsOf(timeWords)}
          label={hasGpuClock ? "Time per step on GPU and CPU" : "Time per step, and its share on the CPU"}
          drawing={(colors) => ({
            places,
            series: [
              series(colors, ({ gpuMs, stepMs }) => (hasGpuClock ? gpuMs : stepMs)),
              series(colors, (sample) => sample.cpuMs, { color: colors.ink2, dash: [2, 3] }),
            ],
            least: 1,
          })}
        />
        <Chart
          title={pair(
            "Cache",
            formatCount(now?.blocksUsed ?? 0),
            " used",
            "cached",
            formatCount(now?.blocksCached ?? 0),
          )}
          label="Cache blocks: used, and used plus cached"
          cursor={cursor}
          words={wordsOf(({ blocksUsed, blocksCached, blocksTotal }) => {
            const free = blocksTotal - blocksUsed - blocksCached;
            return `${formatCount(blocksUsed)} blocks used, ${formatCount(blocksCached)} cached, ${formatCount(free)} free`;
          })}
          drawing={(colors) => ({
            places,
            series: [
              series(colors, ({ blocksUsed, blocksCached }) => blocksUsed + blocksCached, {
                color: colors.ink2,
                dash: [2, 3],
              }),
              series(colors, ({ blocksUsed }) => blocksUsed, { fill: colors.surface2 }),
            ],
            least: now?.blocksTotal ?? 1,
          })}
        />
      </div>
      <LatencyFigures ttft={ttft} itl={itl} />
      <ChartsTable samples={samples} />
    </section>
  );
}

/** The names and values of a full and a dotted line. */
function pair(name: string, value: string, unit: string, dotted: string, other: string) {
  return (
    <>
      <span>
        {name} <b>{value}</b>
        {unit}
      </span>
      <span>
        <u>{dotted}</u> <b>{other}</b>
      </span>
    </>
  );
}

function whenOf(ago: number): string {
  return ago === 0 ? "Now" : `${((ago * FIGURES_INTERVAL_MS) / 1000).toFixed(2)} s ago`;
}

function rateWords({ tokensPerSecond, byVoice }: ChartSample): string {
  const voices = Object.entries(byVoice).map(
    ([voice, rate]) => `${voice === "0" ? "others" : `Pane ${voice}`} ${formatRate(rate)}`,
  );
  return `${formatRate(tokensPerSecond)} tokens per second${voices.length > 1 ? ` (${voices.join(", ")})` : ""}`;
}

function timeWords({ stepMs, gpuMs, cpuMs }: ChartSample): string {
  if (stepMs === null) return "no step ended";
  const parts = [`Step ${formatMs(stepMs)} ms`, gpuMs === null ? [] : `GPU ${formatMs(gpuMs)} ms`];
  return [...parts.flat(), cpuMs === null ? [] : `CPU ${formatMs(cpuMs)} ms`].flat().join(", ");
}

function voiceStack(samples: readonly ChartSample[], colors: CanvasColors): NonNullable<ChartDrawing["stack"]> {
  const voices = new Set(samples.flatMap(({ byVoice }) => Object.keys(byVoice).map(Number)));
  return [...voices]
    .toSorted((a, b) => a - b)
    .map((voice) => ({
      values: samples.map(({ byVoice }) => byVoice[voice] ?? 0),
      color: colors.voices[voice] ?? colors.ink2,
      isOpen: isOutlined(voice),
    }));
}
