/** How two answers agree. Words stand for both: answers of different models have no tokens in common. */
export interface Agreement {
  /** Index of the first word that is not the same; null: none is. */
  readonly firstDifference: number | null;
  /** Words that both have in the same order, of those of both: 0..1. */
  readonly share: number;
}

/** Longer answers are compared by their first words. */
const MAX_WORDS = 2000;

/** Returns the words of a text, each with the space before it. */
export function wordsOf(text: string): string[] {
  return text.trimStart().match(/\s*\S+/g) ?? [];
}

/** @param isOver whether both have ended; while they grow, what one of them lacks may still come */
export function compareAnswers(one: string, other: string, isOver: boolean): Agreement {
  const [a = [], b = []] = [one, other].map((text) =>
    wordsOf(text)
      .slice(0, MAX_WORDS)
      .map((word) => word.trim()),
  );
  const shorter = Math.min(a.length, b.length);
  let same = 0;
  // The last word of an answer that grows may not be whole.
  while (same < shorter && a[same] === b[same]) same += 1;
  const differsHere = same < shorter && (isOver || same < shorter - 1);
  const differsInLength = isOver && a.length !== b.length;
  const firstDifference = differsHere || differsInLength ? same : null;
  const total = a.length + b.length;
  return { firstDifference, share: total === 0 ? 1 : (2 * commonWords(a, b)) / total };
}

/** Length of the longest common subsequence. */
function commonWords(a: readonly string[], b: readonly string[]): number {
  let row = new Uint16Array(b.length + 1);
  for (const word of a) {
    const next = new Uint16Array(b.length + 1);
    for (const [j, other] of b.entries()) {
      next[j + 1] = word === other ? (row[j] ?? 0) + 1 : Math.max(row[j + 1] ?? 0, next[j] ?? 0);
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
