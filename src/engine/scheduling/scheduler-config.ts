import type { ResolvedEngineConfig } from "../../protocol/config.ts";
import { spareSamples } from "../../protocol/step-sizes.ts";

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
  /** Positions that a row sees, its own included, in the layer with the largest window; null for all. [null] */
  readonly slidingWindow?: number | null;
  /** Slots for states of sequences, at least two if the model keeps such. [0] */
  readonly numStateSlots?: number;
};

/** Each sequence that runs has a state. */
export function withinStates(config: SchedulerConfig): SchedulerConfig {
  return { ...config, maxNumSeqs: Math.min(config.maxNumSeqs, config.numStateSlots || Infinity) };
}

/** Returns the samples of a step beyond one per sequence, for drafts and scored prompt tokens. */
export function maxSpareSamples({
  maxNumSeqs,
  speculation,
}: Pick<SchedulerConfig, "maxNumSeqs" | "speculation">): number {
  return spareSamples(maxNumSeqs, speculation?.numTokens ?? 0);
}

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
