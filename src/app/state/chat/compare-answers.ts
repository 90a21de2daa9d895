/** An answer so far. Nothing is said of what follows the text until it is whole. */
interface ComparedAnswer {
  readonly text: string;
  readonly isWhole: boolean;
}

/** How far two answers have been compared. */
export interface Comparison {
  /** Words that both begin with. */
  readonly numSame: number;
  /** Where these words end in each text. */
  readonly ends: readonly [number, number];
  /** The next word of each if they differ: empty where an answer has ended. Null: no difference so far. */
  readonly words: readonly [string, string] | null;
}

export const NOT_COMPARED: Comparison = { numSame: 0, ends: [0, 0], words: null };

/**
 * Goes on comparing two answers word by word, so a growing answer costs its new words only. Answers of different models have no
 * tokens in common.
 * @param before an earlier comparison of these answers
 */
export function compareOn(before: Comparison, one: ComparedAnswer, other: ComparedAnswer): Comparison {
  if (before.words !== null) return before;
  let { numSame } = before;
  let [at, otherAt] = before.ends;
  for (;;) {
    const [word, otherWord] = [wordAt(one, at), wordAt(other, otherAt)];
    const isSame = word?.text === otherWord?.text;
    if (word === null || otherWord === null || (isSame && word.text === "")) {
      return numSame === before.numSame ? before : { numSame, ends: [at, otherAt], words: null };
    }
    if (!isSame) return { numSame, ends: [at, otherAt], words: [word.text, otherWord.text] };
    numSame++;
    [at, otherAt] = [word.end, otherWord.end];
  }
}

/** Returns the word after a place, empty at the end; null if more of it may come. */
function wordAt({ text, isWhole }: ComparedAnswer, at: number): { readonly text: string; readonly end: number } | null {
  const word = /\s*(\S*)/y;
  word.lastIndex = at;
  const found = word.exec(text)?.[1] ?? "";
  return isWhole || word.lastIndex < text.length ? { text: found, end: word.lastIndex } : null;
}
