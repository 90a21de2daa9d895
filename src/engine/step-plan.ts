import type { LogitRules } from "./sampling/logit-rules.ts";
import type { SamplingParams } from "./sampling/sampling-params.ts";

/**
 * Token id of a row that takes the token last drawn in its slot, which the host may not know yet. The same number is in
 * shaders/lib/step.wgsl.
 */
export const FEEDBACK = 0xffffffff;

/** The slot of a state that is zero. */
export const NO_STATE = 0xffffffff;

/** Numbers of a row in `StepPlan.rows`: token, position, slot, and the first position of its sequence in this step. */
export const ROW_WORDS = 4;

/** A step's work as plain data: it may be sent to another thread. */
export interface StepPlan {
  /** One entry per scheduled sequence, in the order of the rows. Results come back in this order. */
  readonly sequences: readonly PlannedSequence[];
  /** [numRows, ROW_WORDS]. A sequence's rows follow one another. */
  readonly rows: Uint32Array<ArrayBuffer>;
  /** Per sequence in order: its scored tokens, then its drawn ones. */
  readonly samples: readonly Sample[];
  /** New entries of block tables. An update from index 0 on means that the slot's sequence is another, or starts over. */
  readonly blockTables: readonly SlotUpdate[];
  /** Tokens that the rules of processed samples look at. A runner adds the tokens that it draws by itself. */
  readonly histories: readonly SlotUpdate[];
  /** Rules of sequences that are new in their slots. */
  readonly rules: readonly SlotRules[];
  /** Which tokens grammars allow: bit (id & 31) of word (id >>> 5). */
  readonly masks: readonly Uint32Array<ArrayBuffer>[];
}

/** A sequence's share of a step: rows for positions start .. start + numRows - 1. */
export interface PlannedSequence {
  readonly slot: number;
  readonly start: number;
  readonly numRows: number;
  readonly numScored: number;
  readonly numDrawn: number;
  /** [the model keeps none] */
  readonly state?: PlannedState | undefined;
}

/**
 * Which of the runner's slots for states a sequence's rows begin with, and in which they leave theirs. `from` may be `to`. No
 * other sequence of the step reads or writes a slot that this one writes, but several may begin with the same one.
 */
export interface PlannedState {
  /** NO_STATE: with zeros. */
  readonly from: number;
  /** Gets the state after the last row. */
  readonly to: number;
  /** States that are kept besides, in ascending order, of different rows. Their slots are neither `from` nor `to`. */
  readonly keeps: readonly StateKeep[];
}

/** The state after the first `rows` rows that the sequence has in this step. */
export interface StateKeep {
  readonly rows: number;
  readonly slot: number;
}

/** Numbers that a runner writes into its table of a slot, from index `start` on. */
export interface SlotUpdate {
  readonly slot: number;
  readonly start: number;
  readonly values: readonly number[];
}

export interface SlotRules {
  readonly slot: number;
  readonly rules: ListRules;
}

export type Sample = ScoredToken | DrawnToken;

/** Asks for the log-probability and rank of a prompt token, under the raw logits of the row before it. */
export interface ScoredToken {
  readonly kind: "score";
  readonly row: number;
  readonly slot: number;
  readonly tokenId: number;
  /** Number of top log-probabilities to return. */
  readonly numTop: number;
}

/** Asks for a token that follows a row. The runner also keeps it as its slot's FEEDBACK. */
export interface DrawnToken {
  readonly kind: "draw";
  readonly row: number;
  readonly slot: number;
  readonly numTop: number;
  /** Index of the token in the output. Its random numbers follow from the seed and this index. */
  readonly outputIndex: number;
  readonly promptLength: number;
  readonly params: DrawParams;
  /** Whether rules or a mask change the logits, or a beam search normalises them. */
  readonly isProcessed: boolean;
  /** Whether the rules' end tokens are forbidden, because the output has fewer than minTokens. */
  readonly isTooEarly: boolean;
  /** Whether the rules change log-probabilities instead of logits, as in beam search. */
  readonly isNormalised: boolean;
  /** Index in `StepPlan.masks`, or null without a grammar. */
  readonly mask: number | null;
}

/** The fields that decide which kernels a sequence's draws need. They are the same for all its draws. */
export type DrawNeeds = Pick<DrawnToken, "kind" | "params" | "isProcessed" | "numTop">;

/** The rules that are lists. They are uploaded once per sequence. */
export type ListRules = Pick<LogitRules, "logitBias" | "endTokenIds" | "badWords" | "allowedTokenIds">;

/** The rules and filters that are numbers. */
export type DrawParams = Pick<
  SamplingParams,
  | "temperature"
  | "topK"
  | "topP"
  | "minP"
  | "typicalP"
  | "seed"
  | "repetitionPenalty"
  | "frequencyPenalty"
  | "presencePenalty"
  | "noRepeatNgramSize"
>;
