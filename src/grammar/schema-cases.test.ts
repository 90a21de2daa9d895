import { expect, test } from "vitest";

import { compile } from "./compile.ts";
import { jsonText } from "./json-text.ts";

test("beside unevaluatedProperties several schemas of anyOf may be valid together", () => {
  const schema = {
    type: "object",
    anyOf: [{ properties: { a: { type: "string" } } }, { properties: { b: { type: "null" } } }, { required: ["c"] }],
    properties: { c: {} },
    unevaluatedProperties: false,
  };
  const { machine } = compile({ kind: "schema", schema, param: "schema" });
  const accepts = (value: unknown) => machine.accepts(jsonText(value));
  const valid = [{}, { a: "x" }, { b: null }, { a: "x", b: null }, { c: 1, a: "x", b: null }];
  expect(valid.filter((value) => !accepts(value))).toEqual([]);
  expect([{ a: 1 }, { a: "x", b: 1 }, { d: 1 }].filter(accepts)).toEqual([]);
});
