import type { BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { formatCounted, formatRate } from "../format.ts";
import { useStore } from "../use-store.ts";

/** What the closed dock says: how many share each step, and how fast that is. */
export function BatchLine({ metrics }: { metrics: BatchMetrics }) {
  const { running, tokensPerSecond } = useStore(metrics.store);
  return (
    <p className="min-h-0 min-w-0 flex-1 truncate">
      {running > 0 && `${formatCounted(running, "answer")}, ${formatRate(tokensPerSecond)} tokens/s in all`}
    </p>
  );
}
