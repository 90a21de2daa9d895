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
> & {
  /** Positions, its own included, that a row sees in the layer that sees most; null for all. [null] */
  readonly slidingWindow?: number | null;
};

// A sample takes memory for its logits.
const MIN_SPARE_SAMPLES = 8;
const MAX_SPARE_SAMPLES = 64;

/** Returns the samples of a step beyond one per sequence, for drafts and scored prompt tokens. */
export function maxSpareSamples({
  maxNumSeqs,
  speculation,
}: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  const drafts = maxNumSeqs * (speculation?.numTokens ?? 0);
  return Math.max(MIN_SPARE_SAMPLES, Math.min(MAX_SPARE_SAMPLES, drafts));
}

/** Returns the most samples of a step. */
export function maxSamples(config: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  return config.maxNumSeqs + maxSpareSamples(config);
}

/** Limits within those of the config: see adaptive-limits.ts. */
export type SchedulerLimits = Pick<SchedulerConfig, "maxNumSeqs" | "maxNumBatchedTokens">;

/** Returns the limits as whole numbers from 1 to those of the config. */
export function clampLimits(limits: SchedulerLimits, config: SchedulerLimits): SchedulerLimits {
  const clamp = (value: number, max: number) => Math.max(1, Math.min(Math.floor(value), max));
  return {
    maxNumSeqs: clamp(limits.maxNumSeqs, config.maxNumSeqs),
    maxNumBatchedTokens: clamp(limits.maxNumBatchedTokens, config.maxNumBatchedTokens),
  };
}
