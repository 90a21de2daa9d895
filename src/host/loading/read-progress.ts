import { bytesToRead } from "../../models/reported-reads.ts";
import type { ModelWeights } from "../../models/model-weights.ts";
import type { LoadProgress } from "../../protocol/reports.ts";

const MAX_REPORTS = 100;

/** Returns what takes the bytes of each read of these weights, and reports how much of them is in memory. */
export function readProgress(
  models: readonly ModelWeights[],
  onProgress: (progress: LoadProgress) => void,
): (bytes: number) => void {
  const total = models.reduce((sum, weights) => sum + bytesToRead(weights), 0);
  let done = 0;
  let numReported = 0;
  return (bytes) => {
    done += bytes;
    const num = Math.floor((MAX_REPORTS * done) / total);
    if (num === numReported) return;
    numReported = num;
    onProgress({ stage: "memory", done, total });
  };
}
