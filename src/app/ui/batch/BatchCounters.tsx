import type { Batch } from "../../state/batch/batch.ts";
import type { BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { classNames } from "../class-names.ts";
import { ExplainButton } from "../explain/ExplainButton.tsx";
import { formatCount, formatPercent, orDash } from "../format.ts";
import { useStore } from "../use-store.ts";
import { ofAll, StepUse } from "./StepUse.tsx";

interface BatchCountersProps {
  metrics: BatchMetrics;
  /** With it the figures are explained on request. */
  batch?: Batch;
}

const FIGURE =
  "row gap-1.5 max-sm:flex-col-reverse max-sm:items-start max-sm:gap-0 [&>dd]:font-semibold [&>dd]:text-ink max-sm:[&>dd]:text-[16px] max-sm:[&>dd]:leading-5";

/** The batch's counters. Columns have a fixed width, so nothing moves when a figure changes. */
export function BatchCounters({ metrics, batch }: BatchCountersProps) {
  const figures = useStore(metrics.store);
  const { prefixHits } = figures;
  return (
    // Without room an item wraps out of sight as a whole.
    <dl className="flex flex-auto gap-4 overflow-hidden max-[1400px]:gap-3 max-sm:grid max-sm:h-auto max-sm:grid-cols-[repeat(3,1fr)] max-sm:gap-x-3 max-sm:gap-y-1 sm:h-5 sm:flex-wrap sm:gap-y-5">
      <div className={FIGURE} title="Sequences that share each step now, and the slots for them">
        <dt>Running</dt>
        <dd style={{ minWidth: "8ch" }}>{ofAll(figures.running, figures.slots)}</dd>
      </div>
      <div className={FIGURE} title="Sequences in the queue">
        <dt>Waiting</dt>
        <dd style={{ minWidth: "2ch" }}>{formatCount(figures.waiting)}</dd>
      </div>
      <div className={classNames(FIGURE, "max-[1200px]:hidden")} title="Most sequences in one step of the last minute">
        <dt>Peak</dt>
        <dd style={{ minWidth: "2ch" }}>{formatCount(figures.peakSequences)}</dd>
      </div>
      <StepUse metrics={metrics} className={classNames(FIGURE, "sm:hidden")} />
      <div className={FIGURE} title="Cache blocks in use">
        <dt className="row gap-1">KV use {batch && <ExplainButton term="kv-use" name="KV use" />}</dt>
        <dd style={{ minWidth: "4.5ch" }}>{formatPercent(figures.kvUse)}</dd>
      </div>
      <div className={FIGURE} title="Share of prompt tokens found in the prefix cache">
        <dt className="row gap-1">Prefix hits {batch && <ExplainButton term="prefix-hits" name="prefix hits" />}</dt>
        <dd style={{ minWidth: "4.5ch" }}>{orDash(prefixHits, formatPercent)}</dd>
      </div>
      <div className={FIGURE} title="Sequences that gave up their blocks and will be computed again later">
        <dt className="row gap-1">Preemptions {batch && <ExplainButton term="preemptions" name="preemptions" />}</dt>
        <dd style={{ minWidth: "2ch" }}>{formatCount(figures.preemptions)}</dd>
      </div>
      <div className={FIGURE} title="Steps since the engine started">
        <dt>Step</dt>
        <dd style={{ minWidth: "6.5ch" }}>{formatCount(figures.step)}</dd>
      </div>
    </dl>
  );
}
