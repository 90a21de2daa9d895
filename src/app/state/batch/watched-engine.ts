import type { ChorusEngine, ResolvedEngineConfig } from "../../../index.ts";

/** The part of an engine that the views of the batch need: one that runs, or a recorded one. */
export interface WatchedEngine extends Pick<
  ChorusEngine,
  "model" | "on" | "stats" | "metrics" | "kvCacheMap" | "kvBlockTokens" | "detokenize" | "update"
> {
  readonly config: Pick<ResolvedEngineConfig, "maxNumSeqs" | "maxNumBatchedTokens" | "batchingMode">;
}
