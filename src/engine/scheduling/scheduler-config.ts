import type { ResolvedEngineConfig } from "../../protocol/config.ts";

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

// Each sample takes the memory of its logits.
const MIN_SPARE_SAMPLES = 8;
const MAX_SPARE_SAMPLES = 64;

/** Samples of a step besides one for each sequence: for drafts, and for prompt tokens that are scored. */
export function maxSpareSamples({
  maxNumSeqs,
  speculation,
}: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  const drafts = maxNumSeqs * (speculation?.numTokens ?? 0);
  return Math.max(MIN_SPARE_SAMPLES, Math.min(MAX_SPARE_SAMPLES, drafts));
}

/** Most samples of a step. */
export function maxSamples(config: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  return config.maxNumSeqs + maxSpareSamples(config);
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
