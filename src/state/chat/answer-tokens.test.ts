import { expect, it } from "vitest";
import { AnswerTokens, tokenOfEachCharacter } from "./answer-tokens.ts";

const tokens = (...texts: string[]) => texts.map((token) => ({ token }));
const sameAs = (seen: string, owners: Int32Array) =>
  [...seen].map((character, index) => `${character}${owners[index]}`).join("");

it("finds the token of each character that is seen, where Markdown has left some out", () => {
  const owners = tokenOfEachCharacter(tokens("A ", "**b", "ig", "**", " fox.\n", "\n- one"), "A big fox.one");
  expect(sameAs("A big fox.one", owners)).toBe("A0 0b1i2g2 4f4o4x4.4o5n5e5");
});

it("what is nowhere in the tokens belongs to the one before", () => {
  expect([...tokenOfEachCharacter(tokens("ab", "cd"), "aXbcd")]).toEqual([0, 0, 0, 1, 1]);
  expect([...tokenOfEachCharacter([], "ab")]).toEqual([0, 0]);
});

it("an answer that goes on has its tokens behind those it had", () => {
  const book = new AnswerTokens();
  const [a, b] = ["a", "b"].map((token) => ({ token, logprob: -1, bytes: [], top_logprobs: [] }));
  expect(book.of(3)).toBeNull();
  book.add(3, [a!]);
  book.add(3, [b!]);
  expect(book.of(3)?.map(({ token }) => token)).toEqual(["a", "b"]);
  book.forget(3);
  expect(book.of(3)).toBeNull();
});
