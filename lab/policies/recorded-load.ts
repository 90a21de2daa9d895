import type { Recording } from "../../src/recording/recording-format.ts";
import type { Load } from "./replay-load.ts";
import { fitStepTime } from "./step-time.ts";

/**
 * Returns the load of a recorded run: arrivals, lengths, and the step time fitted to its steps. A recording doesn't name the
 * engine's limits: it assumes the most sequences and rows of any step. A cached prefix counts as one that all requests
 * share; an aborted answer ends by itself at the same token.
 */
export function recordedLoad(name: string, { model, events }: Recording): Load & { readonly fitError: number } {
  const steps = events.filter((event) => event.type === "step");
  const ended = events.filter((event) => event.type === "request").filter(({ status }) => status === "finished");
  const startMs = ended.reduce((first, { arrivalMs }) => Math.min(first, arrivalMs), Infinity);
  const { model: stepTime, error: fitError } = fitStepTime(steps);
  const most = (sizes: readonly number[]) => sizes.reduce((max, size) => Math.max(max, size), 1);
  return {
    name,
    requests: ended
      .filter(({ outputTokens }) => outputTokens > 0)
      .map(({ arrivalMs, promptTokens, cachedTokens, outputTokens, maxTokens }) => {
        return {
          arrivalMs: arrivalMs - startMs,
          promptTokens,
          sharedTokens: cachedTokens,
          outputTokens,
          maxTokens,
          priority: 0,
        };
      }),
    config: {
      maxNumSeqs: most(steps.map(({ entries }) => entries.length)),
      maxNumBatchedTokens: most(steps.map(({ rows }) => rows)),
      numGpuBlocks: model.numGpuBlocks,
      blockSize: model.blockSize,
    },
    stepTime,
    fitError,
  };
}
