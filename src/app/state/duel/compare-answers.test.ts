import { expect, it } from "vitest";
import { compareAnswers, wordsOf } from "./compare-answers.ts";

it.each<[one: string, other: string, firstDifference: number | null, share: number]>([
  ["the sea is blue", "the sea is blue", null, 1],
  ["the sea is blue", "the sea was blue", 2, 6 / 8],
  ["the sea", "the sea is", 2, 4 / 5],
  ["", "", null, 1],
  ["a b c", "", 0, 0],
  ["a b c d", "b c d a", 0, 6 / 8],
  [" the sea", "the sea", null, 1],
])("%j and %j: the first difference, and what they have in common", (one, other, firstDifference, share) => {
  expect(compareAnswers(one, other, true)).toEqual({ firstDifference, share });
  expect(compareAnswers(other, one, true)).toEqual({ firstDifference, share });
});

it("while answers grow, a word that has not come yet or is not whole is no difference", () => {
  expect(compareAnswers("the sea is", "the sea", false).firstDifference).toBeNull();
  expect(compareAnswers("the se", "the sea is", false).firstDifference).toBeNull();
  expect(compareAnswers("the sun shines", "the sea is", false).firstDifference).toBe(1);
});

it("keeps the space before each word, so that the words make up the text", () => {
  expect(wordsOf("  the  sea\nis")).toEqual(["the", "  sea", "\nis"]);
});
