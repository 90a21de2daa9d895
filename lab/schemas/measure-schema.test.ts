import { expect, test } from "vitest";

import { SchemaMeter } from "./measure-schema.ts";
import { madeUpVocabulary, vocabularyOf } from "./vocabulary.ts";

const BYTES = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
const schema = { type: "object", properties: { a: { type: "integer" }, b: {} }, additionalProperties: false };

test("a schema passes if its valid instances are allowed and its invalid ones aren't", async () => {
  const meter = new SchemaMeter([...BYTES, '{"', '": ']);
  const tests = [
    { valid: true, data: { a: 1 } },
    { valid: true, data: { b: 1, a: 1 } },
    { valid: false, data: { a: "x" } },
    { valid: false, data: { a: 2 } },
  ];
  const result = await meter.measure({ name: "x", schema, tests });
  expect(result).toMatchObject({ refused: null, accepted: ['{"a": 2}'] });
  expect(result.rejected).toEqual(['{"b": 1 >>> , "a": 1}']);
  expect(result.maskMs.length).toBeGreaterThan(10);
});

test("a refused schema says why", async () => {
  const refused = await new SchemaMeter(BYTES).measure({ name: "x", schema: { uniqueItems: true }, tests: [] });
  expect(refused.refused).toContain("schema.uniqueItems");
});

test("a vocabulary has as many different tokens as asked for, and all bytes", () => {
  const tokens = madeUpVocabulary(["some words"], 60_000);
  expect(new Set(tokens).size).toBe(60_000);
  expect(tokens).toEqual(expect.arrayContaining([...BYTES, " words"]));
});

test("a tokenizer's tokens stand at their ids, as bytes", () => {
  expect(vocabularyOf({ model: { vocab: { Ġa: 2, é: 0 } } })).toEqual(["\xe9", "", " a"]);
});
