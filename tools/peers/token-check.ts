/** How far greedy answers agree with the reference's. Only the first difference counts: later tokens follow another text. */
export interface TokenCheck {
  /** Tokens of every answer that were compared. */
  readonly tokensEach: number;
  readonly answers: number;
  /** Answers that agree to their end. */
  readonly sameAnswers: number;
  /** Of the answers that don't, the index of the first token that differs, smallest first. */
  readonly firstDifferences: readonly number[];
}

/** As many tokens as both have are compared. */
export function checkTokens(
  reference: readonly (readonly number[])[],
  answers: readonly (readonly number[])[],
): TokenCheck {
  const lengths = answers.map((tokens, row) => Math.min(tokens.length, reference[row]?.length ?? 0));
  const tokensEach = Math.min(...lengths);
  const firstDifferences = answers
    .map((tokens, row) => tokens.slice(0, tokensEach).findIndex((token, i) => token !== reference[row]?.[i]))
    .filter((index) => index !== -1)
    .toSorted((a, b) => a - b);
  return {
    tokensEach,
    answers: answers.length,
    sameAnswers: answers.length - firstDifferences.length,
    firstDifferences,
  };
}
