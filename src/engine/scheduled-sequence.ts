import type { Sequence } from "./sequence.ts";

/** A sequence's share of a step: rows for positions start .. start + count - 1. */
export interface ScheduledSequence {
  readonly sequence: Sequence;
  readonly start: number;
  readonly count: number;
  /** Whether the newest token's row is among them, so that the next token is sampled from it. */
  readonly samples: boolean;
  /** Guesses at the tokens after the newest one. They have the last rows, and each row samples a token too. */
  readonly drafts: readonly number[];
  /** Number of first rows that score the prompt token that follows them. */
  readonly scored: number;
  /** Tokens before `start` that the prefix cache had, if this step admitted the sequence; else 0. */
  readonly cachedTokens: number;
}
