import { expect, it } from "vitest";
import { findPassage } from "./passage.ts";
import { foldedWords, hasWords, wordsOf } from "./words.ts";

it("are found whatever their case and accents are; a script without spaces is found by its characters", () => {
  expect([...wordsOf("Crème brûlée, 3 œufs! creme")]).toEqual(["creme", "brulee", "3", "œufs"]);
  expect([...wordsOf("今日は晴れ。OK")]).toEqual(["今", "日", "は", "晴", "れ", "ok"]);
  expect([...wordsOf(" ?! ")]).toEqual([]);
  expect([...wordsOf("x".repeat(50))]).toEqual(["x".repeat(40)]);
});

it("are found by their beginnings, all of them; a single letter by itself only", () => {
  const has = (text: string, query: string) => hasWords(foldedWords(text), wordsOf(query));
  expect(has("Why does bread rise?", "ris BREAD")).toBe(true);
  expect(has("Why does bread rise?", "ris cake")).toBe(false);
  expect(has("Why does bread rise?", "ise")).toBe(false);
  expect(has("Why does bread rise?", "b")).toBe(false);
  expect(has("Plan b", "b")).toBe(true);
});

it("are shown in the passage where they are first", () => {
  const turn = { id: 0, question: "Why?", answer: "Yeast eats the sugars, and the dough rises.", end: "stop" as const };
  const chat = { title: "Rise", settings: {}, turns: [turn], contextStart: 0, draft: "" };
  expect(findPassage(chat, wordsOf("ris dou"))).toEqual({
    before: "Yeast eats the sugars, and the ",
    word: "dough",
    after: " rises.",
  });
  expect(findPassage({ ...chat, turns: [{ ...turn, answer: "x ".repeat(50) + "crème" }] }, wordsOf("creme"))).toEqual({
    before: `…${"x ".repeat(20)}`,
    word: "crème",
    after: "",
  });
  expect(findPassage(chat, wordsOf("nothing"))).toBeNull();
});
