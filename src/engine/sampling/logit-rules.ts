/** Rules that change logits before a token is drawn. The defaults, NO_RULES, change nothing. */
export interface LogitRules {
  /** Added to the logits of tokens, first of all. */
  readonly logitBias: readonly (readonly [tokenId: number, bias: number])[];
  /** Logits of tokens of the prompt or the output: divided by it where positive, else multiplied. */
  readonly repetitionPenalty: number;
  /** Taken from the logits of tokens of the output, once for each time they occur. */
  readonly frequencyPenalty: number;
  /** Taken from the logits of tokens of the output. */
  readonly presencePenalty: number;
  /** No n tokens in a row come twice, the prompt included; 0 = they may. */
  readonly noRepeatNgramSize: number;
  /** Token sequences that never come. */
  readonly badWords: readonly (readonly number[])[];
  /** Before so many output tokens none of endTokenIds is drawn. */
  readonly minTokens: number;
  /** What ends the sequence. */
  readonly endTokenIds: readonly number[];
  /** The only tokens that are drawn; null = all. */
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

/** Whether any logit may change: a sequence without rules is drawn from the model's own logits. */
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

/** Words of 4 bytes that the GPU has for the lists of one sequence's rules. */
export const MAX_RULE_WORDS = 2048;

/** Words that the lists take: two a bias, one an end token, and for a bad word one more than its tokens. */
export function ruleWords({ logitBias, endTokenIds, badWords }: LogitRules): number {
  return 2 * logitBias.length + endTokenIds.length + badWordWords(badWords);
}

export function badWordWords(badWords: LogitRules["badWords"]): number {
  return badWords.reduce((sum, word) => sum + 1 + word.length, 0);
}
