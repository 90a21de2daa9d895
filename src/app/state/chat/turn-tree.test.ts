import fc from "fast-check";
import { expect, it } from "vitest";
import type { Turn } from "./conversation.ts";
import {
  choosePath,
  cutPath,
  nextTurnId,
  numInCommon,
  variantsAfter,
  withoutLastTurn,
  type TurnTree,
} from "./turn-tree.ts";

const turn = (id: number): Turn => ({ id, question: `q${id}`, answer: `a${id}`, end: "stop" });
const EMPTY: TurnTree = { turns: [], inactiveTurns: [] };
/** Asks at this place of the path, as an edit or a new question does. */
function withTurn(tree: TurnTree, at: number): TurnTree {
  const cut = cutPath(tree, at);
  return { ...cut, turns: [...cut.turns, turn(nextTurnId(tree))] };
}
const path = ({ turns }: TurnTree) => turns.map(({ id }) => id);
const three = [0, 1, 2].reduce(withTurn, EMPTY);

it("keeps what is replaced, with what followed", () => {
  const edited = withTurn(three, 1);
  expect(path(edited)).toEqual([0, 3]);
  expect(edited.inactiveTurns).toEqual([
    { ...turn(1), after: 0 },
    { ...turn(2), after: 1 },
  ]);
  expect(variantsAfter(edited.inactiveTurns)).toEqual(
    new Map([
      [0, [1]],
      [1, [2]],
    ]),
  );
});

it("goes to a variant and on as that was seen last", () => {
  let tree = withTurn(withTurn(three, 2), 1); // 0-1-2, 0-1-3, 0-4
  expect(path(choosePath(tree, 1))).toEqual([0, 1, 3]);
  tree = choosePath(choosePath(tree, 2), 4);
  expect(path(choosePath(tree, 1))).toEqual([0, 1, 2]);
  expect(path(choosePath(tree, 3))).toEqual([0, 1, 3]);
  expect(choosePath(tree, 0)).toBe(tree);
  expect(choosePath(tree, 9)).toBe(tree);
});

it("goes on with the variant before where the last turn is taken away", () => {
  expect(path(withoutLastTurn(withTurn(three, 1)))).toEqual([0, 1, 2]);
  expect(path(withoutLastTurn(three))).toEqual([0, 1]);
  expect(withoutLastTurn(withTurn(EMPTY, 0))).toEqual(EMPTY);
});

it("counts what two paths have in common", () => {
  expect(numInCommon(three.turns, withTurn(three, 1).turns)).toBe(1);
  expect(numInCommon(three.turns, three.turns)).toBe(3);
  expect(numInCommon([], three.turns)).toBe(0);
});

it("has every turn once, whatever is asked and chosen; each follows an earlier one, and the path ends where none follows", () => {
  const step = fc.record({ isAsked: fc.boolean(), at: fc.nat(20) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let tree = EMPTY;
      let numRequests = 0;
      for (const { isAsked, at } of steps) {
        tree = isAsked ? withTurn(tree, at % (tree.turns.length + 1)) : choosePath(tree, at % Math.max(1, numRequests));
        if (isAsked) numRequests++;
        const chosen = tree.turns.map(({ id }, index) => ({ id, after: tree.turns[index - 1]?.id ?? null }));
        const all = [...chosen, ...tree.inactiveTurns.map(({ id, after }) => ({ id, after }))];
        expect(all.map(({ id }) => id).toSorted((a, b) => a - b)).toEqual(
          Array.from({ length: numRequests }, (_, id) => id),
        );
        for (const { id, after } of all) if (after !== null) expect(after).toBeLessThan(id);
        expect(tree.inactiveTurns.some(({ after }) => after === (chosen.at(-1)?.id ?? null))).toBe(false);
      }
    }),
  );
});
