import { expect, it } from "vitest";
import { AnswerTokens, tokenReader, tokenOfEachCharacter, type AnswerToken } from "./answer-tokens.ts";

const tokens = (...texts: string[]): AnswerToken[] =>
  texts.map((text, index) => ({ id: 10 + index, text, logprob: -1, likeliest: [] }));
const sameAs = (seen: string, owners: Int32Array) =>
  [...seen].map((character, index) => `${character}${owners[index]}`).join("");
const part = (text: string, ...texts: string[]) => ({ text, reasoning: "", tokens: tokens(...texts) });

it("finds the token of each character that is seen, where Markdown has left some out", () => {
  const owners = tokenOfEachCharacter(tokens("A ", "**b", "ig", "**", " fox.\n", "\n- one"), "A big fox.one");
  expect(sameAs("A big fox.one", owners)).toBe("A0 0b1i2g2 4f4o4x4.4o5n5e5");
});

it("what is nowhere in the tokens belongs to the one before", () => {
  expect([...tokenOfEachCharacter(tokens("ab", "cd"), "aXbcd")]).toEqual([0, 0, 0, 1, 1]);
  expect([...tokenOfEachCharacter([], "ab")]).toEqual([0, 0]);
});

it("an answer that goes on has its tokens behind those it had, and each knows the request that made it", () => {
  const book = new AnswerTokens();
  expect(book.of(3)).toBeNull();
  book.begin(3, "first", false);
  book.add(3, part("ab", "a", "b"));
  book.begin(3, "second", true);
  book.add(3, part("c", "c"));
  expect(book.of(3)?.answer.map(({ text }) => text)).toEqual(["a", "b", "c"]);
  expect(book.outputOf({ turnId: 3, token: 2 })).toEqual({ requestName: "second", output: 0 });
  expect(book.placeOf({ requestName: "first", output: 1 })).toEqual({ turnId: 3, token: 1 });
  expect(book.placeOf({ requestName: "first", output: 2 })).toBeNull();
  expect(book.placeOf({ requestName: "second", output: 0 })).toEqual({ turnId: 3, token: 2 });
  expect(book.placeOf({ requestName: "second", output: 1 })).toBeNull();
  expect(book.placeOf({ requestName: "third", output: 0 })).toBeNull();
  book.begin(3, "again", false);
  expect(book.of(3)).toBeNull();
});

it("the rest of an answer from another visit says nothing of its beginning", () => {
  const book = new AnswerTokens();
  book.begin(1, "more", true);
  book.add(1, part("c", "c"));
  expect(book.of(1)).toBeNull();
});

it("keeps thoughts and what was held back with them apart from the answer", () => {
  const book = new AnswerTokens();
  book.begin(0, "a", false);
  book.add(0, { text: "", reasoning: "Hm", tokens: tokens("<think>", "Hm") });
  book.add(0, part("", "</think>"));
  book.add(0, part("Yes", "Yes"));
  expect(book.of(0)).toMatchObject({
    reasoning: [{ text: "<think>" }, { text: "Hm" }, { text: "</think>" }],
    answer: [{ text: "Yes" }],
  });
  expect(book.idsOf(0, "Yes")).toEqual([10, 11, 10, 10]);
});

it("knows the ids of an answer only where they are all of it", () => {
  const book = new AnswerTokens();
  book.begin(0, "a", false);
  book.add(0, part("Yes.", "Yes", ".", "\nUser"));
  expect(book.idsOf(0, "Yes.")).toEqual([10, 11]);
  expect(book.idsOf(0, "Ye")).toBeNull();
  expect(book.idsOf(0, "Yes.\nUser:")).toBeNull();
  expect(book.idsOf(1, "Yes.")).toBeNull();
  book.begin(2, "b", false);
  book.add(2, { text: "Hi", reasoning: "", tokens: [{ ...tokens("Hi")[0]!, id: null }] });
  expect(book.idsOf(2, "Hi")).toBeNull();
});

it("reads ids and bytes, also of a character in two tokens, and the names of who tells no ids", () => {
  const reader = tokenReader();
  const named = (token: string, ...bytes: number[]) => ({ token, logprob: -1, bytes, top_logprobs: [] });
  const [high, low] = [reader([named("token_id:5", 0xc3)]), reader([named("token_id:6", 0xa9)])];
  expect([...high, ...low]).toMatchObject([
    { id: 5, text: "" },
    { id: 6, text: "é" },
  ]);
  expect(reader([named("token_id:0"), named(" fox", 32)])).toMatchObject([
    { id: 0, text: "" },
    { id: null, text: " fox" },
  ]);
});
