import { expect, it } from "vitest";
import { branchLines } from "./branch-lines.ts";

const turn = (id: number) => ({ id, question: `q${id}`, answer: `a${id}`, end: "stop" as const });

it("has each turn below the one it follows, and variants beside each other in the order they were asked", () => {
  const turns = [turn(0), turn(1), turn(4)];
  const unchosen = [
    { ...turn(6), after: 3 },
    { ...turn(2), after: 1 },
    { ...turn(3), after: 2 },
    { ...turn(5), after: null },
  ];
  const lines = branchLines({ turns, unchosen });
  const drawn = lines.map(({ turn: { id }, column, goesOn, place, isChosen, hasNext }) =>
    [goesOn.map((each) => (each ? "|" : " ")).join(""), column, isChosen ? "*" : "o", id, place, hasNext].join(" "),
  );
  expect(drawn).toEqual([
    " 0 * 0 first true",
    " 0 * 1 next true",
    "| 1 o 2 variant true",
    "| 1 o 3 next true",
    "| 1 o 6 next false",
    "  1 * 4 variant false",
    " 0 o 5 first false",
  ]);
});

it("has room for long chats and many variants", () => {
  const turns = Array.from({ length: 20_000 }, (_, id) => turn(id));
  expect(branchLines({ turns, unchosen: [] }).at(-1)).toMatchObject({ column: 0, place: "next" });
  const unchosen = Array.from({ length: 2000 }, (_, index) => ({ ...turn(1 + index), after: index === 0 ? null : 0 }));
  expect(branchLines({ turns: [turn(0), turn(9999)], unchosen })).toHaveLength(2002);
});
