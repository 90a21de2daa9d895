// The sizes of a step. A model's memory is laid out for them when it is loaded.

import { CONFIG_FIELDS, DRAFT_FIELDS } from "./config.ts";

export interface StepSizes {
  /** Slots. */
  readonly maxNumSeqs: number;
  /** Rows. */
  readonly maxNumBatchedTokens: number;
  /** Samples beyond one per sequence, for drafts and scored prompt tokens. */
  readonly maxSpareSamples: number;
}

/** Most steps that are submitted before the tokens of an earlier one are known. */
export const MAX_RUN_AHEAD = CONFIG_FIELDS.runAhead.max;
/** Most tokens per draft. */
export const MAX_DRAFT_LENGTH = DRAFT_FIELDS.num_speculative_tokens.max;
/** The default of backends without their own. A larger maxNumSeqs raises a default no further than to this. */
const DEFAULT_MAX_NUM_BATCHED_TOKENS = CONFIG_FIELDS.maxNumBatchedTokens.default;

// A sample takes memory for its logits.
const MIN_SPARE_SAMPLES = 8;
const MAX_SPARE_SAMPLES = 64;

/** Returns slots and rows, with defaults for those not given. */
export function slotsAndRows(
  {
    maxNumSeqs,
    maxNumBatchedTokens,
  }: { readonly [Name in "maxNumSeqs" | "maxNumBatchedTokens"]?: number | null | undefined },
  defaultBatchedTokens: number | null,
): Pick<StepSizes, "maxNumSeqs" | "maxNumBatchedTokens"> {
  const rows =
    maxNumBatchedTokens ??
    Math.max(
      defaultBatchedTokens ?? DEFAULT_MAX_NUM_BATCHED_TOKENS,
      Math.min(maxNumSeqs ?? 0, DEFAULT_MAX_NUM_BATCHED_TOKENS),
    );
  return { maxNumSeqs: maxNumSeqs ?? Math.min(CONFIG_FIELDS.maxNumSeqs.default, rows), maxNumBatchedTokens: rows };
}

/** @param draftLength most tokens per draft; 0 without drafts */
export function spareSamples(maxNumSeqs: number, draftLength: number): number {
  return Math.max(MIN_SPARE_SAMPLES, Math.min(MAX_SPARE_SAMPLES, maxNumSeqs * draftLength));
}
