/** Rules that change logits before a token is drawn. The defaults, NO_RULES, change nothing. */
export interface LogitRules {
  /** Numbers added to the logits of tokens, before all other rules. */
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[];
  /** Divides positive logits of tokens in the prompt or output by this, and multiplies negative ones. */
  readonly repetitionPenalty: number;
  /** Subtracted from the logit of an output token once per occurrence. */
  readonly frequencyPenalty: number;
  /** Subtracted from the logit of each token in the output. */
  readonly presencePenalty: number;
  /** Forbids repeating any n-gram of this size, prompt included; 0 allows it. */
  readonly noRepeatNgramSize: number;
  /** Forbidden token sequences. */
  readonly badWords: readonly (readonly number[])[];
  /** Forbids endTokenIds until the output has this many tokens. */
  readonly minTokens: number;
  /** Tokens that end the sequence. */
  readonly endTokenIds: readonly number[];
  /** The only allowed tokens; null allows all. */
  readonly allowedTokenIds: readonly number[] | null;
}

export const NO_RULES: LogitRules = {
  logitBias: [],
  repetitionPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  noRepeatNgramSize: 0,
  badWords: [],
  minTokens: 0,
  endTokenIds: [],
  allowedTokenIds: null,
};

/** Returns whether any rule is set. Without rules, tokens are drawn from the model's own logits. */
export function hasRules(rules: LogitRules): boolean {
  return (
    rules.logitBias.length > 0 ||
    rules.repetitionPenalty !== 1 ||
    rules.frequencyPenalty !== 0 ||
    rules.presencePenalty !== 0 ||
    rules.noRepeatNgramSize > 0 ||
    rules.badWords.length > 0 ||
    rules.minTokens > 0 ||
    rules.allowedTokenIds !== null
  );
}

/** Words of 4 bytes that a runner keeps for the lists of one sequence's rules. */
export const MAX_RULE_WORDS = 2048;

/** Returns the words that the lists take: two per bias, one per end token, and one more than its tokens per bad word. */
export function ruleWords({ logitBias, endTokenIds, badWords }: LogitRules): number {
  return 2 * logitBias.length + endTokenIds.length + badWordWords(badWords);
}

export function badWordWords(badWords: LogitRules["badWords"]): number {
  return badWords.reduce((sum, word) => sum + 1 + word.length, 0);
}
