import { createStore, type ReadonlyStore } from "../store.ts";
import type { Turn } from "./conversation.ts";
import type { Pane } from "./pane.ts";

/** The first word of a pane's newest answer that another pane's answer to the same question does not have. */
export interface Difference {
  readonly turnId: number;
  /** The other pane's number. */
  readonly other: number;
  /** Words before it. */
  readonly numSame: number;
  /** Where these end in the answer. */
  readonly at: number;
  /** The word, and the other answer's; empty where an answer has ended. */
  readonly words: readonly [string, string];
}

interface Compared {
  /** Names both answers. */
  readonly key: string;
  readonly comparison: Comparison;
  readonly difference: Difference | null;
}

/** Compares the newest answers of panes that were asked the same question, each with the first other one. */
export class Differences {
  readonly #store = createStore<ReadonlyMap<Pane, Difference>>(() => new Map());
  readonly store: ReadonlyStore<ReadonlyMap<Pane, Difference>> = this.#store;
  #compared: ReadonlyMap<Pane, Compared> = new Map();

  /** Compares what has come since the last call. Called four times per second. */
  tick(panes: readonly Pane[]): void {
    const compared = new Map(panes.flatMap((pane) => this.#compare(pane, panes)));
    const isSame = ([pane, { difference }]: [Pane, Compared]) =>
      difference === (this.#compared.get(pane)?.difference ?? null);
    const isUnchanged = compared.size === this.#compared.size && [...compared].every(isSame);
    this.#compared = compared;
    if (isUnchanged) return;
    const found = [...compared].flatMap(([pane, { difference }]) => (difference ? [[pane, difference] as const] : []));
    this.#store.setState(new Map(found), true);
  }

  #compare(pane: Pane, panes: readonly Pane[]): readonly [Pane, Compared][] {
    const turn = newestOf(pane);
    const other = turn && panes.find((each) => each !== pane && newestOf(each)?.question === turn.question);
    const theirs = other && newestOf(other);
    if (!turn || !theirs) return [];
    const key = `${nameOf(turn)} ${other.key} ${nameOf(theirs)}`;
    const known = this.#compared.get(pane);
    const before = known?.key === key ? known : { key, comparison: NOT_COMPARED, difference: null };
    const comparison = compareOn(before.comparison, answerOf(turn), answerOf(theirs));
    if (comparison === before.comparison) return [[pane, before]];
    const { numSame, ends, words } = comparison;
    const difference = words && { turnId: turn.id, other: other.number, numSame, at: ends[0], words };
    return [[pane, { key, comparison, difference }]];
  }
}

const newestOf = (pane: Pane): Turn | undefined => pane.store.getState().turns.at(-1);

const nameOf = ({ id, alternatives }: Turn) => `${id}/${alternatives?.chosen ?? ""}`;

/** Of an answer that was cut off, nobody knows the next word. */
const answerOf = ({ answer, end }: Turn) => ({ text: answer, isWhole: end === "stop" });

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
