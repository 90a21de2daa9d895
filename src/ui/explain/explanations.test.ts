import { expect, it } from "vitest";
import { CELLS } from "./Picture.tsx";
import { EXPLANATIONS, TERMS } from "./explanations.ts";

it.each(TERMS)("%s: every cell of its picture can be drawn, and its rows are equally long", (term) => {
  const { picture } = EXPLANATIONS[term];
  expect(new Set(picture.map(({ cells }) => cells.length)).size).toBe(1);
  for (const character of picture.map(({ cells }) => cells).join("")) expect(Object.keys(CELLS)).toContain(character);
});
