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
  | "speculation"
>;

/** Beside a sample for each sequence, a step has room for so many of drafts: each takes the memory of its logits. */
const MAX_DRAFT_TOKENS = 64;

/** Most draft tokens of a step. */
export function maxDraftTokens({
  maxNumSeqs,
  speculation,
}: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  return speculation === null ? 0 : Math.min(MAX_DRAFT_TOKENS, maxNumSeqs * speculation.numTokens);
}

/** Most tokens that a step can sample. */
export function maxSamples(config: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  return config.maxNumSeqs + maxDraftTokens(config);
}

/** How much of what the config allows is used: see adaptive-limits.ts. */
export type SchedulerLimits = Pick<SchedulerConfig, "maxNumSeqs" | "maxNumBatchedTokens">;

/** What is given, in whole numbers from 1 to what the config allows. */
export function clampLimits(limits: SchedulerLimits, config: SchedulerLimits): SchedulerLimits {
  const clamp = (value: number, max: number) => Math.max(1, Math.min(Math.floor(value), max));
  return {
    maxNumSeqs: clamp(limits.maxNumSeqs, config.maxNumSeqs),
    maxNumBatchedTokens: clamp(limits.maxNumBatchedTokens, config.maxNumBatchedTokens),
  };
}
