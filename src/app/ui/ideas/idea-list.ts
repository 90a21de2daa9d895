import type { PictureRow } from "../explain/explanations.ts";

/** Something to try, with a picture of it: a short run as text, as in an explanation. */
export interface Idea {
  readonly title: string;
  readonly words: string;
  readonly picture: readonly PictureRow[];
}

const rows = (voices: readonly (number | null)[], ...cells: readonly string[]): PictureRow[] =>
  cells.map((line, index) => ({ name: `${index + 1}`, voice: voices[index] ?? null, cells: line }));
const PANES = [1, 2, 3, 4];

export const IDEAS = {
  four: {
    title: "Ask four at once",
    words: "Four panes, four questions. Their answers share every step, and the timeline draws who takes part.",
    picture: rows(PANES, "Pdddddddd|.....", "Pddddd|........", ".Pdddddddddd|..", "..Pddddddddddd|"),
  },
  demo: {
    title: "Watch the demo",
    words:
      "Eight questions at once, then the same ones one after the other: the same answers, and how long each way takes.",
    picture: rows(PANES, "Pd|Pd|.........", "Pd|...Pd|......", "Pd|......Pd|...", "Pd|.........Pd|"),
  },
  bench: {
    title: "Measure this machine",
    words: "The benchmark: tokens per second by sequences at once, the three ways of batching, and each kernel.",
    picture: rows([], "GGGGGGG........", "GGGGGGGGGGGG...", "GGGGGGGGGGGGG..", "GGGGGGGGGGGGGGG"),
  },
} as const satisfies Record<string, Idea>;
