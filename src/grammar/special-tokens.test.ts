// Special tokens steer a model, whatever their names look like: no grammar takes one for the text that it is named for.

import { readFileSync } from "node:fs";
import { expect, test } from "vitest";

import { loadTokenizer } from "../files/tokenizer.ts";
import { seededRandom } from "../../lab/seeded-random.ts";
import { filesInMemory } from "../../tests/files-in-memory.ts";
import { allowedIds, drawAnswer, grammarCompiler } from "../../tests/requests/grammars.ts";

const NAMES = ['{"', '"}', '{"a": ', "}", "[]", '", "', '"', "1", "[INST]", "<|{|>"];
const json = JSON.parse(readFileSync("public/models/chorus-chat/tokenizer.json", "utf8")) as { added_tokens: object[] };
const FIRST = 4096;
const added = NAMES.map((content, i) => ({ ...json.added_tokens[0], id: FIRST + i, content, special: true }));
const tokenizer = await loadTokenizer(
  filesInMemory({ "tokenizer.json": { ...json, added_tokens: [...json.added_tokens, ...added] } }),
);
const vocabulary = Array.from({ length: tokenizer.vocabSize }, (_, id) => tokenizer.tokenBytes(id));
const EOS = 0;
const compiler = grammarCompiler(vocabulary);
const schema = {
  type: "object",
  properties: { a: { type: "integer" }, b: { type: "array", items: { type: "string" } } },
  required: ["a", "b"],
};

test("they are tokens of the tokenizer, and of no answer to a schema", async () => {
  expect(tokenizer.vocabSize).toBe(FIRST + NAMES.length);
  expect(tokenizer.encode(NAMES[2] ?? "")).toEqual([FIRST + 2]);
  for (let seed = 0; seed < 10; seed++) {
    const [matcher] = await compiler.matchers({ kind: "schema", schema, param: "schema" }, [EOS], 1);
    const seen = new Set<number>();
    const prepareMask = matcher!.prepareMask.bind(matcher);
    matcher!.prepareMask = async () => {
      const isReady = await prepareMask();
      for (const id of allowedIds(matcher!.mask)) seen.add(id);
      return isReady;
    };
    await drawAnswer(matcher!, 60, seededRandom(seed), tokenizer.encodePlain('"]}'));
    expect([...seen].filter((id) => id >= FIRST || (id > EOS && vocabulary[id]?.length === 0))).toEqual([]);
  }
});

test("tokens that join signs, of which texts are made, are taken", async () => {
  const ids = tokenizer.encodePlain('{"a": 1, "b": ["x", "y"]}');
  const joined = ids.filter((id) => [' "', '",'].includes(new TextDecoder().decode(vocabulary[id])));
  expect(new Set(joined).size).toBe(2);
  const [matcher] = await compiler.matchers({ kind: "schema", schema, param: "schema" }, [EOS], 1);
  for (const id of [...ids, EOS]) {
    expect(await matcher?.prepareMask()).toBe(true);
    expect(allowedIds(matcher!.mask)).toContain(id);
    matcher?.accept(id);
  }
});
