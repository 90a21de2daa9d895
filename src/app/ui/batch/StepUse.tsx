import type { BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { formatCount, formatPercent, orDash } from "../format.ts";
import { useStore } from "../use-store.ts";

interface StepUseProps {
  metrics: BatchMetrics;
  className?: string | undefined;
}

/** How much of the step budget, the GPU and the cache is in use: entries of a description list. */
export function StepUse({ metrics, className }: StepUseProps) {
  const { rows, rowBudget, gpuUse, residentTokens } = useStore(metrics.store);
  const ofRows = "Rows of the last step, and the most that a step has (maxNumBatchedTokens)";
  const ofGpu = "Share of the last step in which the GPU computed, where the adapter has timestamps";
  const figures = [
    ["Rows", ofAll(rows, rowBudget), ofRows],
    ["GPU", orDash(gpuUse, formatPercent), ofGpu],
    ["Tokens", formatCount(residentTokens), "Tokens of running sequences in the cache"],
  ];
  return figures.map(([name, value, title]) => (
    <div key={name} className={className} title={title}>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  ));
}

/** "5 of 64". */
export function ofAll(part: number, all: number): string {
  return all === 0 ? formatCount(part) : `${formatCount(part)} of ${formatCount(all)}`;
}
