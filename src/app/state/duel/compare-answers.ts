/** The agreement of two answers, by words: answers of different models have no tokens in common. */
export interface Agreement {
  /** Index of the first different word; null if there is none. */
  readonly firstDifference: number | null;
  /** Share of the words that both have in the same order: 0..1. */
  readonly share: number;
}

/** Longer answers are compared by their first words. */
const MAX_WORDS = 2000;

/** Returns the words of a text, each with the space before it. */
export function wordsOf(text: string): string[] {
  return text.trimStart().match(/\s*\S+/g) ?? [];
}

/** @param isOver whether both have ended; while they grow, missing words may still come */
export function compareAnswers(one: string, other: string, isOver: boolean): Agreement {
  const [a = [], b = []] = [one, other].map((text) =>
    wordsOf(text)
      .slice(0, MAX_WORDS)
      .map((word) => word.trim()),
  );
  const shorter = Math.min(a.length, b.length);
  let same = 0;
  // The last word of a growing answer may be incomplete.
  while (same < shorter && a[same] === b[same]) same += 1;
  const differsHere = same < shorter && (isOver || same < shorter - 1);
  const differsInLength = isOver && a.length !== b.length;
  const firstDifference = differsHere || differsInLength ? same : null;
  const total = a.length + b.length;
  return { firstDifference, share: total === 0 ? 1 : (2 * commonWords(a, b)) / total };
}

/** Returns the length of the longest common subsequence. */
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
