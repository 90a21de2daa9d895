/** How far greedy answers agree with the reference's. Only the first difference counts: later tokens follow another text. */
export interface TokenCheck {
  /** Tokens of an answer that were compared: of the longest, if they differ. */
  readonly tokensEach: number;
  readonly answers: number;
  /** Answers that agree to their end. */
  readonly sameAnswers: number;
  /** Of the answers that don't, the index of the first token that differs, smallest first. */
  readonly firstDifferences: readonly number[];
}

/** As many tokens of each answer as both have are compared. */
export function checkTokens(
  reference: readonly (readonly number[])[],
  answers: readonly (readonly number[])[],
): TokenCheck {
  const lengths = answers.map((tokens, row) => Math.min(tokens.length, reference[row]?.length ?? 0));
  const firstDifferences = answers
    .map((tokens, row) => tokens.slice(0, lengths[row]).findIndex((token, i) => token !== reference[row]?.[i]))
    .filter((index) => index !== -1)
    .toSorted((a, b) => a - b);
  return {
    tokensEach: Math.max(...lengths),
    answers: answers.length,
    sameAnswers: answers.length - firstDifferences.length,
    firstDifferences,
  };
}
