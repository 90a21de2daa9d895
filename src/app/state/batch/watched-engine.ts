import type { ChorusEngine, ResolvedEngineConfig } from "../../../index.ts";

/** The part of an engine that the views of the batch need: one that runs, or a recorded one, which can't be asked everything. */
export interface WatchedEngine
  extends Pick<ChorusEngine, "kvCacheMap">, Partial<Pick<ChorusEngine, "stats" | "kvBlockTokens" | "detokenize">> {
  readonly config: Pick<ResolvedEngineConfig, "maxNumSeqs" | "maxNumBatchedTokens">;
}
