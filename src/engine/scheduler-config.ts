import type { ResolvedEngineConfig } from "../protocol/config.ts";

export type SchedulerConfig = Pick<
  ResolvedEngineConfig,
  | "maxNumSeqs"
  | "maxNumBatchedTokens"
  | "blockSize"
  | "numGpuBlocks"
  | "enablePrefixCaching"
  | "schedulingPolicy"
  | "batchingMode"
  | "batchWindowMs"
  | "longPrefillTokenThreshold"
>;

/** How much of what the config allows is used: see adaptive-limits.ts. */
export type SchedulerLimits = Pick<SchedulerConfig, "maxNumSeqs" | "maxNumBatchedTokens">;
