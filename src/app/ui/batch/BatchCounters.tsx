import { useStore } from "zustand";
import type { Batch } from "../../state/batch/batch.ts";
import type { BatchFigures, BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { classNames } from "../class-names.ts";
import { ExplainButton } from "../explain/ExplainButton.tsx";
import type { Term } from "../explain/explanations.ts";
import { formatCount, formatPercent, orDash } from "../format.ts";

/** A figure, what it is, and a width for its longest value: so nothing moves when it changes. */
type Figure = readonly [name: string, value: string, title: string, minWidth?: string | undefined, className?: string];

const IN_GPU = "Share of the last step in which the GPU computed, where the adapter has timestamps";
const PREEMPTED = "Sequences that gave up their blocks and will be computed again later";

/** Returns how much of the step budget, the GPU and the cache is in use. */
export const stepUse = ({ rows, rowBudget, gpuUse, residentTokens }: BatchFigures): readonly Figure[] => [
  ["Rows", ofAll(rows, rowBudget), "Rows of the last step, and the most that a step has (maxNumBatchedTokens)"],
  ["GPU", orDash(gpuUse, formatPercent), IN_GPU],
  ["Tokens", formatCount(residentTokens), "Tokens of running sequences in the cache"],
];

const countersOf = (of: BatchFigures): readonly Figure[] => [
  ["Running", ofAll(of.running, of.slots), "Sequences that share each step now, and the slots for them", "8ch"],
  ["Waiting", formatCount(of.waiting), "Sequences in the queue", "2ch"],
  [
    "Peak",
    formatCount(of.peakSequences),
    "Most sequences in one step of the last minute",
    "2ch",
    "max-[1200px]:hidden",
  ],
  ...stepUse(of).map(([name, value, title]): Figure => [name, value, title, undefined, "sm:hidden"]),
  ["KV use", formatPercent(of.kvUse), "Cache blocks in use", "4.5ch"],
  ["Prefix hits", orDash(of.prefixHits, formatPercent), "Share of prompt tokens found in the prefix cache", "4.5ch"],
  ["Preemptions", formatCount(of.preemptions), PREEMPTED, "2ch"],
  ["Step", formatCount(of.step), "Steps since the engine started", "6.5ch"],
];

const EXPLAINED: Readonly<Record<string, readonly [term: Term, name: string]>> = {
  "KV use": ["kv-use", "KV use"],
  "Prefix hits": ["prefix-hits", "prefix hits"],
  Preemptions: ["preemptions", "preemptions"],
};

const FIGURE =
  "row gap-1.5 max-sm:flex-col-reverse max-sm:items-start max-sm:gap-0 [&>dd]:font-semibold [&>dd]:text-ink max-sm:[&>dd]:text-[16px] max-sm:[&>dd]:leading-5";

/** The batch's counters. @param batch with it the figures are explained on request */
export function BatchCounters({ metrics, batch }: { metrics: BatchMetrics; batch?: Batch }) {
  const figures = useStore(metrics.store);
  return (
    // Without room an item wraps out of sight as a whole.
    <dl className="flex flex-auto gap-4 overflow-hidden max-[1400px]:gap-3 max-sm:grid max-sm:h-auto max-sm:grid-cols-[repeat(3,1fr)] max-sm:gap-x-3 max-sm:gap-y-1 sm:h-5 sm:flex-wrap sm:gap-y-5">
      {countersOf(figures).map(([name, value, title, minWidth, className]) => {
        const [term, about] = (batch && EXPLAINED[name]) ?? [];
        return (
          <div key={name} className={classNames(FIGURE, className)} title={title}>
            <dt className={name in EXPLAINED ? "row gap-1" : undefined}>
              {name} {term && about && <ExplainButton term={term} name={about} />}
            </dt>
            <dd style={{ minWidth }}>{value}</dd>
          </div>
        );
      })}
    </dl>
  );
}

/** "5 of 64". */
function ofAll(part: number, all: number): string {
  return all === 0 ? formatCount(part) : `${formatCount(part)} of ${formatCount(all)}`;
}
