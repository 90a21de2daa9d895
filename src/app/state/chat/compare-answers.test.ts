import { expect, it } from "vitest";
import { compareOn, NOT_COMPARED, type Comparison } from "./differences.ts";

const whole = (text: string) => ({ text, isWhole: true });
const growing = (text: string) => ({ text, isWhole: false });

it.each<[one: string, other: string, numSame: number, words: Comparison["words"]]>([
  ["the sea is blue", "the sea is blue", 4, null],
  ["the sea is blue", "the sea was blue", 2, ["is", "was"]],
  ["the sea", "the sea is", 2, ["", "is"]],
  ["", "", 0, null],
  ["a b c", "", 0, ["a", ""]],
  [" the  sea\n", "the\nsea", 2, null],
])("%j and %j: the first words that differ", (one, other, numSame, words) => {
  expect(compareOn(NOT_COMPARED, whole(one), whole(other))).toMatchObject({ numSame, words });
  const [word = "", otherWord = ""] = words ?? [];
  expect(compareOn(NOT_COMPARED, whole(other), whole(one))).toMatchObject({
    numSame,
    words: words && [otherWord, word],
  });
});

it("while answers grow, a word that has not come yet or is not whole is no difference", () => {
  expect(compareOn(NOT_COMPARED, growing("the sea is"), growing("the sea")).words).toBeNull();
  expect(compareOn(NOT_COMPARED, growing("the se"), whole("the sea is")).words).toBeNull();
  expect(compareOn(NOT_COMPARED, growing("the sun shines"), growing("the sea is")).words).toEqual(["sun", "sea"]);
  expect(compareOn(NOT_COMPARED, whole("the"), growing("the sea is")).words).toEqual(["", "sea"]);
});

it("goes on from where it was, and reads nothing before that again", () => {
  const [one, other] = [" the sea is blue today", "the sea is grey today"];
  let comparison = NOT_COMPARED;
  for (let length = 0; length <= one.length; length++) {
    // What was compared is unreadable by now.
    const unread = (text: string, end: number) =>
      growing(text.slice(0, length).replaceAll(/[^]/g, (c, i) => (i < end ? "?" : c)));
    const [end, otherEnd] = comparison.ends;
    comparison = compareOn(comparison, unread(one, end), unread(other, otherEnd));
  }
  expect(comparison).toEqual({ numSame: 3, ends: [11, 10], words: ["blue", "grey"] });
  expect(compareOn(comparison, whole(""), whole(""))).toBe(comparison);
});
