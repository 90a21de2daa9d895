import type { LogitRules } from "./logit-rules.ts";

/** Which tokens are left to draw from, after the rules; in the order top-k, top-p, min-p, typical-p. */
export interface TokenFilters {
  /** Keep the k largest logits (ties with the k-th stay); 0 = all. */
  readonly topK: number;
  /** Keep the smallest set of most likely tokens with at least this mass; 1 = all. */
  readonly topP: number;
  /** Keep what is at least this times as likely as the likeliest; 0 = all. */
  readonly minP: number;
  /** Keep the smallest set with at least this mass of those whose surprise is nearest to the entropy; 1 = all. */
  readonly typicalP: number;
}

export const NO_FILTERS: TokenFilters = { topK: 0, topP: 1, minP: 0, typicalP: 1 };

/** Most likely tokens that a request can ask to be told with each token. */
export const MAX_TOP_LOGPROBS = 20;

/** Most likely tokens that a step can tell of a sample: a beam asks for one a beam and one a token that ends it. */
export const MAX_TOP_CANDIDATES = 32;

/** Below this, a log-probability is that of a token that a rule forbids. */
export const LOWEST_LOGPROB = -1e30;

/** Beam search, with Hugging Face's names and meanings. */
export interface BeamSearchParams {
  readonly numBeams: number;
  /** Scores are divided by length to this power: above 0 favours long answers. */
  readonly lengthPenalty: number;
  /**
   * When numBeams answers are finished: true = the search is over, false = when the best open beam is no better at its
   * present length, "never" = when it can't become better at any.
   */
  readonly earlyStopping: boolean | "never";
}

/** How a sequence's tokens are drawn and when it ends, with every default decided. vLLM's names in camelCase. */
export interface SamplingParams extends LogitRules, TokenFilters {
  /** 0 = greedy. */
  readonly temperature: number;
  /** A non-negative integer below 2^53: key of the counter-based random numbers. */
  readonly seed: number;
  /** How many of the most likely tokens are told with each, up to MAX_TOP_LOGPROBS. */
  readonly topLogprobs: number;
  /** Of how many the most likely tokens are told in the place of each prompt token, beside its own; null: not even that. */
  readonly promptLogprobs: number | null;
  /** Most output tokens. */
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStopStrInOutput: boolean;
  /** Whether the model's end-of-text ids do not end the sequence. */
  readonly ignoreEos: boolean;
}
