import { maxSequenceLength } from "../engine/scheduling/admission.ts";
import { maxSamples } from "../engine/scheduling/scheduler-config.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";

/** Sizes of the largest step, and of what a runner keeps of each sequence. */
export type StepLimits = ReturnType<typeof stepLimits>;

export function stepLimits(engine: ResolvedEngineConfig) {
  // A model's context may be longer than the cache; buffers for the whole context would be large and useless.
  const maxLength = maxSequenceLength(engine);
  return {
    maxRows: engine.maxNumBatchedTokens,
    maxSamples: maxSamples(engine),
    maxSlots: engine.maxNumSeqs,
    maxBlocks: Math.ceil(maxLength / engine.blockSize),
    maxLength,
  };
}
