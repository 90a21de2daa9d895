// Lays out a chat's tree of turns: one turn per line, each below the turn that it follows.

import type { Turn } from "./conversation.ts";
import type { TurnTree } from "./turn-tree.ts";

export interface BranchLine {
  readonly turn: Turn;
  /** Whether it is on the chosen path. */
  readonly isChosen: boolean;
  /** Its column: how often the chat branches before it. */
  readonly column: number;
  /** For each column before its own: whether the column goes on below this line, to a later variant. */
  readonly goesOn: readonly boolean[];
  /** first: it begins the chat. next: it alone follows the turn above. variant: it is one of several that follow a turn. */
  readonly place: "first" | "next" | "variant";
  /** Whether any turn follows it. */
  readonly hasNext: boolean;
}

/** Returns all turns, each followed by its next turns; variants are in the order in which they were asked. */
export function branchLines({ turns, unchosen }: TurnTree): readonly BranchLine[] {
  const next = new Map<number | null, Turn[]>();
  const add = (after: number | null, turn: Turn) => {
    const list = next.get(after);
    if (list) list.push(turn);
    else next.set(after, [turn]);
  };
  turns.forEach((turn, index) => add(turns[index - 1]?.id ?? null, turn));
  for (const turn of unchosen) add(turn.after, turn);
  for (const variants of next.values()) variants.sort((a, b) => a.id - b.id);
  const chosen = new Set(turns.map(({ id }) => id));

  const lines: BranchLine[] = [];
  const lineOf = (turn: Turn, rest: Pick<BranchLine, "column" | "goesOn" | "place">): BranchLine => ({
    turn,
    isChosen: chosen.has(turn.id),
    hasNext: next.has(turn.id),
    ...rest,
  });
  // A stack instead of recursion: a chat may have thousands of turns. Its end is the next line.
  const stack = (next.get(null) ?? [])
    .map((turn) => lineOf(turn, { column: 0, goesOn: [], place: "first" }))
    .toReversed();
  for (let line = stack.pop(); line !== undefined; line = stack.pop()) {
    const { column, goesOn, turn } = line;
    lines.push(line);
    const following = next.get(turn.id) ?? [];
    const isSplit = following.length > 1;
    const below = following.map((each, index) =>
      isSplit
        ? lineOf(each, { column: column + 1, goesOn: [...goesOn, index < following.length - 1], place: "variant" })
        : lineOf(each, { column, goesOn, place: "next" }),
    );
    stack.push(...below.toReversed());
  }
  return lines;
}
