import type { Batch } from "../../state/batch/batch.ts";
import type { BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { classNames } from "../class-names.ts";
import { ExplainButton } from "../explain/ExplainButton.tsx";
import { formatCount, formatPercent, orDash } from "../format.ts";
import { useStore } from "../use-store.ts";
import css from "./BatchCounters.module.css";
import { ofAll, StepUse } from "./StepUse.tsx";

interface BatchCountersProps {
  metrics: BatchMetrics;
  /** With it the figures are explained on request. */
  batch?: Batch;
}

/** The batch's counters. Columns have a fixed width, so nothing moves when a figure changes. */
export function BatchCounters({ metrics, batch }: BatchCountersProps) {
  const figures = useStore(metrics.store);
  const { prefixHits } = figures;
  return (
    <dl className={css.counters}>
      <div className="row" title="Sequences that share each step now, and the slots for them">
        <dt>Running</dt>
        <dd style={{ minWidth: "8ch" }}>{ofAll(figures.running, figures.slots)}</dd>
      </div>
      <div className="row" title="Sequences in the queue">
        <dt>Waiting</dt>
        <dd style={{ minWidth: "2ch" }}>{formatCount(figures.waiting)}</dd>
      </div>
      <div className={classNames("row", css.extra)} title="Most sequences in one step of the last minute">
        <dt>Peak</dt>
        <dd style={{ minWidth: "2ch" }}>{formatCount(figures.peakSequences)}</dd>
      </div>
      <StepUse metrics={metrics} className={classNames("row", css.onPhone)} />
      <div className="row" title="Cache blocks in use">
        <dt className="row tight">KV use {batch && <ExplainButton term="kv-use" name="KV use" />}</dt>
        <dd style={{ minWidth: "4.5ch" }}>{formatPercent(figures.kvUse)}</dd>
      </div>
      <div className="row" title="Share of prompt tokens found in the prefix cache">
        <dt className="row tight">Prefix hits {batch && <ExplainButton term="prefix-hits" name="prefix hits" />}</dt>
        <dd style={{ minWidth: "4.5ch" }}>{orDash(prefixHits, formatPercent)}</dd>
      </div>
      <div className="row" title="Sequences that gave up their blocks and will be computed again later">
        <dt className="row tight">Preemptions {batch && <ExplainButton term="preemptions" name="preemptions" />}</dt>
        <dd style={{ minWidth: "2ch" }}>{formatCount(figures.preemptions)}</dd>
      </div>
      <div className="row" title="Steps since the engine started">
        <dt>Step</dt>
        <dd style={{ minWidth: "6.5ch" }}>{formatCount(figures.step)}</dd>
      </div>
    </dl>
  );
}
