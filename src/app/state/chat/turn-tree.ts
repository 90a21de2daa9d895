// A chat is a tree of turns with a chosen path. An edited question and a regenerated answer become turns of their own beside
// the old ones, so no text is lost.

import type { Turn } from "./conversation.ts";

/** A turn that is not on the chosen path. */
export interface InactiveTurn extends Turn {
  /** Id of the turn before it; null for the first. */
  readonly after: number | null;
}

/** All turns of a chat. A turn's id is greater than those of all turns before it. */
export interface TurnTree {
  /** The chosen path, which ends where no turn follows. Only its last turn changes while an answer grows. */
  readonly turns: readonly Turn[];
  /** All other turns. Those that were on the path last are at the end. */
  readonly inactiveTurns: readonly InactiveTurn[];
}

/** Ends the path before its turn `at`. Later turns are kept. */
export function cutPath({ turns, inactiveTurns }: TurnTree, at: number): TurnTree {
  if (at >= turns.length) return { turns, inactiveTurns };
  const cut = turns.slice(at).map((turn, index) => ({ ...turn, after: turns[at + index - 1]?.id ?? null }));
  return { turns: turns.slice(0, at), inactiveTurns: [...inactiveTurns, ...cut] };
}

/** Chooses the path through a turn, and from there on as it was chosen last. */
export function choosePath(tree: TurnTree, turnId: number): TurnTree {
  const { turns, inactiveTurns } = tree;
  const byId = new Map(inactiveTurns.map((turn) => [turn.id, turn]));
  const path: InactiveTurn[] = [];
  for (let turn = byId.get(turnId); turn !== undefined; turn = byId.get(turn.after ?? -1)) path.push(turn);
  path.reverse();
  const [first] = path;
  if (first === undefined) return tree;
  // The last of several turns after the same one stays.
  const lastAfter = new Map(inactiveTurns.map((turn) => [turn.after, turn]));
  for (let turn = lastAfter.get(turnId); turn !== undefined; turn = lastAfter.get(turn.id)) path.push(turn);

  const chosen = new Set(path);
  const cut = cutPath(tree, turns.findIndex(({ id }) => id === first.after) + 1);
  const chosenTurns = path.map((inactive): Turn => {
    const { after: _, ...turn } = inactive;
    return turn;
  });
  return {
    turns: [...cut.turns, ...chosenTurns],
    inactiveTurns: cut.inactiveTurns.filter((turn) => !chosen.has(turn)),
  };
}

/** Removes the path's last turn. The path goes on with the variant that was chosen before, if there is one. */
export function withoutLastTurn({ turns, inactiveTurns }: TurnTree): TurnTree {
  const rest = { turns: turns.slice(0, -1), inactiveTurns };
  const after = rest.turns.at(-1)?.id ?? null;
  const variant = inactiveTurns.findLast((turn) => turn.after === after);
  return variant ? choosePath(rest, variant.id) : rest;
}

/** Returns the ids of inactive turns by the turn that they come after. Those after the same turn are its variants. */
export function variantsAfter(inactiveTurns: readonly InactiveTurn[]): ReadonlyMap<number | null, readonly number[]> {
  const idsAfter = new Map<number | null, number[]>();
  for (const { id, after } of inactiveTurns) {
    const ids = idsAfter.get(after);
    if (ids) ids.push(id);
    else idsAfter.set(after, [id]);
  }
  return idsAfter;
}

/** Returns the number of first turns that two paths have in common. */
export function numInCommon(one: readonly Turn[], other: readonly Turn[]): number {
  const differs = one.findIndex(({ id }, index) => id !== other[index]?.id);
  return differs < 0 ? one.length : differs;
}

/** Returns a greater id than any turn has. */
export function nextTurnId({ turns, inactiveTurns }: TurnTree): number {
  return [...turns, ...inactiveTurns].reduce((next, { id }) => Math.max(next, id + 1), 0);
}
