import { useStore } from "zustand";
import type { Batch } from "../../state/batch/batch.ts";
import type { BatchFigures, BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { classNames } from "../class-names.ts";
import { ExplainButton } from "../explain/ExplainButton.tsx";
import type { Term } from "../explain/explanations.ts";
import { formatCount, formatPercent, orDash } from "../format.ts";

/** A figure, what it is, and a width for its longest value: so nothing moves when it changes. */
type Figure = readonly [name: string, value: string, title: string, minWidth?: string | undefined, more?: Extras];
/** `term` explains it. */
type Extras = { readonly className?: string; readonly term?: Term };

const IN_GPU = "Share of the last step in which the GPU computed, where the adapter has timestamps";
const FOUND = "Share of prompt tokens found in the prefix cache";
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
    { className: "max-[1200px]:hidden" },
  ],
  ...stepUse(of).map(([name, value, title]): Figure => [name, value, title, undefined, { className: "sm:hidden" }]),
  ["KV use", formatPercent(of.kvUse), "Cache blocks in use", "4.5ch", { term: "kv-use" }],
  ["Prefix hits", orDash(of.prefixHits, formatPercent), FOUND, "4.5ch", { term: "prefix-hits" }],
  ["Preemptions", formatCount(of.preemptions), PREEMPTED, "2ch", { term: "preemptions" }],
  ["Step", formatCount(of.step), "Steps since the engine started", "6.5ch"],
];

const FIGURE =
  "row gap-1.5 max-sm:flex-col-reverse max-sm:items-start max-sm:gap-0 [&>dd]:font-semibold [&>dd]:text-ink max-sm:[&>dd]:text-[16px] max-sm:[&>dd]:leading-5";

/** The batch's counters. @param batch with it the figures are explained on request */
export function BatchCounters({ metrics, batch }: { metrics: BatchMetrics; batch?: Batch }) {
  const figures = useStore(metrics.store);
  return (
    // Without room an item wraps out of sight as a whole.
    <dl className="flex flex-auto gap-4 overflow-hidden max-[1400px]:gap-3 max-sm:grid max-sm:h-auto max-sm:grid-cols-[repeat(3,1fr)] max-sm:gap-x-3 max-sm:gap-y-1 sm:h-5 sm:flex-wrap sm:gap-y-5">
      {countersOf(figures).map(([name, value, title, minWidth, { className, term } = {}]) => (
        <div key={name} className={classNames(FIGURE, className)} title={title}>
          <dt className={term && "row gap-1"}>
            {name} {term && batch && <ExplainButton term={term} name={inSentence(name)} />}
          </dt>
          <dd style={{ minWidth }}>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** "prefix hits", but "KV use". */
const inSentence = (name: string) => (/^[A-Z]{2}/.test(name) ? name : name.toLowerCase());

/** "5 of 64". */
function ofAll(part: number, all: number): string {
  return all === 0 ? formatCount(part) : `${formatCount(part)} of ${formatCount(all)}`;
}
