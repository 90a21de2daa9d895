/** Agreement of greedy answers with the reference's. Only the first difference counts: later tokens follow another text. */
export interface TokenCheck {
  /** Tokens of an answer that were compared: of the longest, if they differ. */
  readonly tokensEach: number;
  readonly answers: number;
  readonly sameAnswers: number;
  /** For each other answer the index of its first different token, smallest first. */
  readonly firstDifferences: readonly number[];
}

/** Compares the tokens of each answer, up to the end of the shorter one. */
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
