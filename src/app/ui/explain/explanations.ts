// Explanations of the batch's terms: a few lines, and a picture of one short run as text.

import type { BatchFigures } from "../../state/batch/batch-metrics.ts";
import { formatCount, formatPercent } from "../format.ts";

/**
 * A line of the picture: a character is a step. P prompt, c cached, d decode, w waiting, x preempted, | finished, a dot
 * nothing, G the GPU computes, r the page reads tokens back, 1 to 4 a block that this sequence has.
 */
export interface PictureRow {
  readonly name: string;
  /** The pane of its cells; null for ink. */
  readonly pane: number | null;
  readonly cells: string;
}

export interface Explanation {
  readonly title: string;
  readonly words: string;
  readonly picture: readonly PictureRow[];
  /** The picture's description in words. */
  readonly pictureWords: string;
  /** Returns its current value. [the batching mode] */
  readonly now?: (figures: BatchFigures) => string;
}

const sequences = (...rows: readonly string[]): PictureRow[] =>
  rows.map((cells, index) => ({ name: `Pane ${index + 1}`, pane: index + 1, cells }));

/** The terms, in the order they are read in. */
const BY_TERM = {
  continuous: {
    title: "Continuous batching",
    words:
      "Questions join and leave the batch at every step. A step computes a token for every sequence, and part of each new prompt, under one token budget. So nobody waits for the longest answer.",
    picture: sequences("Pdddddd|....", "Pdd|........", "..Pddddd|...", "....Pdddddd|"),
    pictureWords: "Four sequences share the steps. The third and the fourth begin while the first still runs.",
  },
  static: {
    title: "Static batching",
    words:
      "A batch runs to its end before the next begins. A sequence that ends early leaves its place empty, and new questions wait for the longest answer.",
    picture: sequences("Pdddd|......", "Pd|.........", "..wwwPdddd|.", "....wPdd|..."),
    pictureWords: "Two sequences run to the end of the longer one. Then the two that have waited begin.",
  },
  sequential: {
    title: "Sequential",
    words:
      "One question after the other, as without batching. All others wait. If you choose this mode while answers grow, all but the first are preempted.",
    picture: sequences("Pddd|.......", "wwwwPdd|....", "..wwwwwPddd|"),
    pictureWords: "Three sequences, one after the other: each waits until the one before has ended.",
  },
  "kv-use": {
    title: "KV use",
    words:
      "The model keeps the keys and values of every token that it has read, in cache blocks of 16 tokens. A sequence takes a block when its tokens need one, and gives all of them back at its end. KV use is the share of blocks in use.",
    picture: [
      { name: "Block 1", pane: null, cells: "11111111...." },
      { name: "Block 2", pane: null, cells: "..111111...." },
      { name: "Block 3", pane: null, cells: ".22222222222" },
      { name: "Block 4", pane: null, cells: "....22222222" },
      { name: "Block 5", pane: null, cells: ".....111.222" },
    ],
    pictureWords: "Two sequences take one block after the other. When the first ends, another takes its blocks.",
    now: ({ kvUse }) => `Now: ${formatPercent(kvUse)} of the blocks.`,
  },
  preemptions: {
    title: "Preemptions",
    words:
      "If the blocks run out, the sequence that arrived last gives its blocks up and waits. Later it is computed again, with the same tokens: its text stays as it is.",
    picture: sequences("Pdddddd|....", "PdddxwwPPdd|"),
    pictureWords:
      "The second sequence gives its blocks up to the first. When the first has ended, its prompt and tokens are computed again, and it goes on.",
    now: ({ preemptions }) => `Since the engine started: ${formatCount(preemptions)}.`,
  },
  "prefix-hits": {
    title: "Prefix hits",
    words:
      "A full block is found again by the exact chain of its tokens. The next turn of a chat, panes with the same system prompt, forks and preempted sequences reuse such blocks instead of computing them. Prefix hits are the share of prompt tokens found this way.",
    picture: sequences("PPPPdddd|...", "....ccccPddd"),
    pictureWords: "The second sequence finds four blocks of the first one's prompt, and computes only what differs.",
    now: ({ prefixHits }) =>
      prefixHits === null ? "Nothing was looked up yet." : `Now: ${formatPercent(prefixHits)}.`,
  },
  "run-ahead": {
    title: "Run-ahead",
    words:
      "Reading tokens back often takes longer than a step. So up to two steps are submitted before the tokens of the oldest are known: the GPU goes on, and the page learns a little later which answers have ended. The tokens are the same.",
    picture: [
      { name: "Waiting", pane: null, cells: "GrrGrrGrrGrr" },
      { name: "Ahead", pane: null, cells: "GGGGGGGGGGGG" },
      { name: "Read", pane: null, cells: "..rrrrrrrrrr" },
    ],
    pictureWords:
      "Above, the GPU waits for each step's tokens to be read. Below, it computes one step after the other while tokens are read.",
    now: () => "The page “Serving” sets how many steps.",
  },
} satisfies Readonly<Record<string, Explanation>>;

export type Term = keyof typeof BY_TERM;
export const TERMS = Object.keys(BY_TERM) as readonly Term[];
export const EXPLANATIONS: Readonly<Record<Term, Explanation>> = BY_TERM;
