import { useState } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { FIGURES_INTERVAL_MS } from "../../state/batch/batch-metrics.ts";
import { CHARTS_WINDOW_MS } from "../../state/batch/charts.ts";
import { useStore } from "../use-store.ts";
import { Chart, type ChartCursor } from "./Chart.tsx";
import { chartsOf } from "./charts.ts";
import { ChartsTable } from "./ChartsTable.tsx";
import { LatencyFigures } from "./LatencyFigures.tsx";
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
    <section className="panel" aria-label="Charts" tabIndex={-1}>
      <div className="panel-head">
        <h3>Charts</h3>
        <dl className="flex gap-3 font-medium max-sm:hidden">
          <StepUse
            metrics={batch.metrics}
            className="flex gap-1 last:max-xl:hidden [&>dd]:min-w-[4ch] [&>dd]:text-ink first:[&>dd]:min-w-[10ch] last:[&>dd]:min-w-[6ch]"
          />
        </dl>
        <span className="ms-auto">last {spanS} s</span>
      </div>
      <div className="grid min-h-0 flex-1 gap-x-5 gap-y-1 [grid-template:repeat(2,minmax(0,1fr))_/_repeat(2,minmax(0,1fr))] max-sm:flex-none max-sm:grid-rows-[104px_104px]">
        {chartsOf(samples.some(({ gpuMs }) => gpuMs !== null)).map((chart, i) => (
          <Chart key={i} chart={chart} data={data} places={placesOf(spanS)} cursor={cursor} />
        ))}
      </div>
      <LatencyFigures ttft={ttft} itl={itl} />
      <ChartsTable samples={samples} />
    </section>
  );
}
