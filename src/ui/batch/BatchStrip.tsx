import type { ReactNode } from "react";
import type { BatchMetrics } from "../../state/batch-metrics.ts";
import { classNames } from "../class-names.ts";
import { formatCount, formatMs, formatRate } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./BatchStrip.module.css";

/** The batch at work: what runs, what waits, and what the last step computed. */
export function BatchStrip({ metrics }: { metrics: BatchMetrics }) {
  const figures = useStore(metrics.store, (state) => state);
  const kvPercent = Math.round(figures.kvUse * 100);
  return (
    <section className={css.strip} aria-label="Batch">
      <h2>Batch</h2>
      <dl className={css.figures}>
        <Figure label="Running" width={css.w3}>
          {formatCount(figures.running)}
        </Figure>
        <Figure label="Waiting" width={css.w3}>
          {formatCount(figures.waiting)}
        </Figure>
        <Figure label="Sequences" title="In the last step" width={css.w3}>
          {formatCount(figures.sequences)}
        </Figure>
        <Figure label="Peak" title="Most sequences that a step of the last minute had" width={css.w3}>
          {formatCount(figures.peakSequences)}
        </Figure>
        <Figure label="KV use" title="Cache blocks in use" width={css.w4} after={<KvMeter percent={kvPercent} />}>
          {kvPercent}%
        </Figure>
        <Figure label="Tokens/s" title="Of all panes, over the last two seconds" width={css.w5} isExtra>
          {formatRate(figures.tokensPerSecond)}
        </Figure>
        <Figure label="Step" title="Steps since the engine started" width={css.w6} isExtra>
          {formatCount(figures.step)}
        </Figure>
        <Figure label="Step time" title="Of the last step" width={css.w7} isExtra>
          {formatMs(figures.stepMs)} ms
        </Figure>
        <Figure label="Rows" title="Tokens computed in the last step, and those of prompts" width={css.rows}>
          {formatCount(figures.rows)}
          {figures.promptRows > 0 && <small> ({formatCount(figures.promptRows)} prompt)</small>}
        </Figure>
      </dl>
    </section>
  );
}

interface FigureProps {
  label: string;
  title?: string;
  /** A figure's column never changes its width, so that nothing moves when the figure changes. */
  width: string | undefined;
  /** Gives way where there is little room. */
  isExtra?: boolean;
  after?: ReactNode;
  children: ReactNode;
}

function Figure({ label, title, width, isExtra = false, after, children }: FigureProps) {
  return (
    <div className={classNames(css.figure, isExtra && css.extra)} title={title}>
      <dt>{label}</dt>
      <dd className={width}>{children}</dd>
      {after}
    </div>
  );
}

/** The same figure as a bar; the number beside it says it all. */
function KvMeter({ percent }: { percent: number }) {
  return (
    <span className={css.meter} aria-hidden="true">
      <i style={{ width: `${percent}%` }} />
    </span>
  );
}
