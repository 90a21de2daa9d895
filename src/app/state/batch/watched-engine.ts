import type { ChorusEngine, ResolvedEngineConfig } from "../../../index.ts";

/** What the views of the batch need of an engine: one that runs, or one that was recorded. */
export interface WatchedEngine extends Pick<
  ChorusEngine,
  "model" | "on" | "stats" | "metrics" | "kvCacheMap" | "kvBlockTokens" | "detokenize" | "update"
> {
  readonly config: Pick<ResolvedEngineConfig, "maxNumSeqs" | "maxNumBatchedTokens" | "batchingMode">;
}
