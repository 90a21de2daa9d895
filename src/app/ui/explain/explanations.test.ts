import { expect, it } from "vitest";
import { CELLS } from "./Run.tsx";
import { EXPLANATIONS } from "./explanations.ts";

it.each(Object.entries(EXPLANATIONS))(
  "%s: every cell of its picture can be drawn, and its rows are equally long",
  (_, { picture }) => {
    expect(new Set(picture.map(({ cells }) => cells.length)).size).toBe(1);
    for (const character of picture.map(({ cells }) => cells).join("")) expect(Object.keys(CELLS)).toContain(character);
  },
);
