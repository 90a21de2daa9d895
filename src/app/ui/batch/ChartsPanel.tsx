import { useState } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { FIGURES_INTERVAL_MS } from "../../state/batch/batch-metrics.ts";
import { CHARTS_WINDOW_MS } from "../../state/batch/charts.ts";
import { useStore } from "../use-store.ts";
import { Chart, type ChartCursor } from "./Chart.tsx";
import { chartsOf } from "./charts.ts";
import css from "./ChartsPanel.module.css";
import { ChartsTable } from "./ChartsTable.tsx";
import { LatencyFigures } from "./LatencyFigures.tsx";
import panel from "./Panel.module.css";
import { StepUse } from "./StepUse.tsx";

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
    <section className={panel.panel} aria-label="Charts" tabIndex={-1}>
      <div className={panel.head}>
        <h3>Charts</h3>
        <dl className={css.use}>
          <StepUse metrics={batch.metrics} />
        </dl>
        <span className="end">last {spanS} s</span>
      </div>
      <div className={css.charts}>
        {chartsOf(samples.some(({ gpuMs }) => gpuMs !== null)).map((chart, i) => (
          <Chart key={i} chart={chart} data={data} places={placesOf(spanS)} cursor={cursor} />
        ))}
      </div>
      <LatencyFigures ttft={ttft} itl={itl} />
      <ChartsTable samples={samples} />
    </section>
  );
}
