import type { LogitRules } from "./logit-rules.ts";

/** Filters that choose the tokens to draw from. They apply after the rules, in the order top-k, top-p, min-p, typical-p. */
export interface TokenFilters {
  /** Keeps the k largest logits, and ties with the k-th; 0 keeps all. */
  readonly topK: number;
  /** Keeps the smallest set of most likely tokens with at least this mass; 1 keeps all. */
  readonly topP: number;
  /** Keeps tokens at least this fraction as likely as the likeliest one; 0 keeps all. */
  readonly minP: number;
  /** Keeps the smallest set with at least this mass, of the tokens whose surprise is nearest to the entropy; 1 keeps all. */
  readonly typicalP: number;
}

export const NO_FILTERS: TokenFilters = { topK: 0, topP: 1, minP: 0, typicalP: 1 };

/** Most top log-probabilities that a request can ask for per token. */
export const MAX_TOP_LOGPROBS = 20;

/** Most top log-probabilities per sample. A beam needs one per beam and one per end token. */
export const MAX_TOP_CANDIDATES = 32;

/** A log-probability at or below this means that a rule forbids the token. */
export const LOWEST_LOGPROB = -1e30;

/** Beam search, with Hugging Face's names and meanings. */
export interface BeamSearchParams {
  readonly numBeams: number;
  /** Scores are divided by length to this power: above 0 favours long answers. */
  readonly lengthPenalty: number;
  /**
   * When the search is over, once numBeams answers are finished. true: at once. false: when the best open beam is no better
   * at its present length. "never": when it can't become better at any length.
   */
  readonly earlyStopping: boolean | "never";
}

/** How tokens are drawn and when the sequence ends, with all defaults filled in. vLLM's names in camelCase. */
export interface SamplingParams extends LogitRules, TokenFilters {
  /** 0 = greedy. */
  readonly temperature: number;
  /** Key of the counter-based random numbers: a non-negative integer below 2^53. */
  readonly seed: number;
  /** Number of top log-probabilities to return per token, up to MAX_TOP_LOGPROBS. */
  readonly topLogprobs: number;
  /** Number of top log-probabilities to return per prompt token; null returns none, not even the token's own. */
  readonly promptLogprobs: number | null;
  /** Most output tokens. */
  readonly maxTokens: number;
  readonly stop: readonly string[];
  readonly stopTokenIds: readonly number[];
  readonly includeStopStrInOutput: boolean;
  /** Whether the model's end-of-text ids do not end the sequence. */
  readonly ignoreEos: boolean;
}
