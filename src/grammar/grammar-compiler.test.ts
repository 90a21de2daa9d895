import { expect, test, vi } from "vitest";

import { ChorusError } from "../protocol/errors.ts";
import { BYTE_VOCABULARY, byteTokens, EOS } from "../testing/engine-harness.ts";
import { allowedIds, drawAnswer, grammarCompiler } from "../testing/grammars.ts";
import { GrammarCompiler } from "./grammar-compiler.ts";
import { choiceGrammar, regexGrammar, schemaGrammar } from "./grammar-source.ts";

const compiler = grammarCompiler(BYTE_VOCABULARY);

/** Whether a text, from its beginning to its end, is one of the grammar's. */
async function accepts(source: { ebnf: string; param: string }, text: string): Promise<boolean> {
  const [matcher] = await compiler.matchers(source, [EOS], 1);
  try {
    return [...byteTokens(text), EOS].every((id) => matcher?.accept(id));
  } finally {
    matcher?.dispose();
  }
}

const ebnf = (text: string) => ({ ebnf: text, param: "structured_outputs.grammar" });

test("a mask has what may come next, and the end only where the text is complete", async () => {
  const [matcher] = await compiler.matchers(choiceGrammar(["yes", "yesterday", "no"], "choice"), [EOS], 1);
  expect(allowedIds(matcher!.mask)).toEqual(byteTokens("ny").sort((a, b) => a - b));
  for (const id of byteTokens("yes")) {
    expect(matcher?.accept(id)).toBe(true);
    expect(await matcher?.prepareMask()).toBe(true);
  }
  expect(allowedIds(matcher!.mask)).toEqual([...byteTokens("t"), EOS]);
  expect(matcher?.accept(byteTokens("x")[0]!)).toBe(false);
  expect(matcher?.accept(EOS)).toBe(true);
  expect(await matcher?.prepareMask()).toBe(false);
  expect(matcher?.accept(EOS)).toBe(false);
  matcher?.dispose();
  matcher?.dispose();
  expect(await matcher?.prepareMask()).toBe(false);
});

test("every token that ends an answer is kept out of the middle of a text", async () => {
  const [letterN] = byteTokens("n");
  const [matcher] = await compiler.matchers(choiceGrammar(["yes", "no"], "choice"), [EOS, letterN!], 1);
  expect(allowedIds(matcher!.mask)).toEqual(byteTokens("y"));
  matcher?.dispose();
});

test("sequences of a request follow their grammar each by itself", async () => {
  const [a, b] = await compiler.matchers(choiceGrammar(["ab", "cd"], "choice"), [EOS], 2);
  expect(a?.accept(byteTokens("a")[0]!)).toBe(true);
  expect(b?.accept(byteTokens("c")[0]!)).toBe(true);
  expect([await a?.prepareMask(), allowedIds(a!.mask)]).toEqual([true, byteTokens("b")]);
  expect([await b?.prepareMask(), allowedIds(b!.mask)]).toEqual([true, byteTokens("d")]);
});

test("a vocabulary that is padded has no token in its padding", async () => {
  const padded = grammarCompiler(BYTE_VOCABULARY, 300);
  const [matcher] = await padded.matchers(regexGrammar("(.|\n)*", "regex"), [EOS], 1);
  expect(matcher?.mask).toHaveLength(10);
  expect(allowedIds(matcher!.mask).filter((id) => id > 0xf4)).toEqual([EOS]);
});

test.each([
  ['root ::= "a" [', "Unterminated character class"],
  ['start ::= "a"', "root"],
  ["root ::= missing", "missing"],
  ["hello", "root"],
])("a grammar that is none (%s) is refused with the reason, and harms nobody else", async (text, reason) => {
  const [before] = await compiler.matchers(ebnf('root ::= "a" "b"'), [EOS], 1);
  before?.accept(byteTokens("a")[0]!);
  const refused = compiler.matchers(ebnf(text), [EOS], 1);
  await expect(refused).rejects.toThrow(ChorusError);
  await expect(refused).rejects.toMatchObject({
    code: "invalid_value",
    param: "structured_outputs.grammar",
    message: expect.stringContaining(reason),
  });
  expect(await before?.prepareMask()).toBe(true);
  expect(allowedIds(before!.mask)).toEqual(byteTokens("b"));
  expect(await accepts(ebnf('root ::= "x" | "y"'), "y")).toBe(true);
});

test("a module that can't be loaded is tried again", async () => {
  const load = vi.fn<() => Promise<never>>(() => Promise.reject(new Error("offline")));
  const failing = new GrammarCompiler(() => ({ vocabSize: 1, tokens: ["a"] }), load);
  for (let i = 0; i < 2; i++) {
    await expect(failing.matchers(ebnf('root ::= "a"'), [0], 1)).rejects.toMatchObject({ code: "internal_error" });
  }
  expect(load).toHaveBeenCalledTimes(2);
});

test("a schema's JSON is written on one line, and nothing else is taken", async () => {
  const source = schemaGrammar(
    {
      type: "object",
      properties: { a: { type: "integer" }, b: { type: "array", items: { type: "boolean" } } },
      required: ["a"],
    },
    "schema",
  );
  expect(await accepts(source, '{"a": -7, "b": [true, false]}')).toBe(true);
  expect(await accepts(source, '{"a": 0}')).toBe(true);
  expect(await accepts(source, '{"b": []}')).toBe(false);
  expect(await accepts(source, '{ "a": 0}')).toBe(false);
  expect(await accepts(source, '{"a": 0}\n')).toBe(false);
  expect(await accepts(source, '{"a": 0.5}')).toBe(false);
});

test("an answer ends", async () => {
  const [matcher] = await compiler.matchers(regexGrammar("[ab]{3}", "regex"), [EOS], 1);
  let turn = 0;
  const answer = await drawAnswer(matcher!, 10, () => [0.1, 0.9, 0.4][turn++ % 3]!);
  expect(answer).toEqual(byteTokens("aba"));
});
