import { expect, test } from "vitest";

import { compile } from "./compile.ts";
import { jsonText } from "./json-text.ts";

const LABEL = `${"a-".repeat(31)}b`;
const LONG = `${LABEL}.${LABEL}.${LABEL}.${"c".repeat(61)}`;
test.each([
  [{ format: "hostname" }, [LONG, "a"], [`${LONG}c`, `${LABEL}c`, "a."]],
  [{ minLength: 1, pattern: "^a*$", not: { format: "hostname" } }, ["a".repeat(64), "a".repeat(254)], ["a"]],
  [{ format: "hostname", maxLength: 3 }, ["a-b", "a.b"], ["a-bc", "ab-", ""]],
  [{ format: "email", maxLength: 5000, minLength: 6 }, ["ab@c.d", `a@${LONG}`], ["a@c.d"]],
  [{ pattern: "^(a|bb)*c", maxLength: 4 }, ["c", "aac", "bbc", "caaa", 'c"\n'], ["aa", "bbbb", "aaaac", "caaaa"]],
])("the characters of a text are counted: %j", (schema, valid, invalid) => {
  const { machine } = compile({
    kind: "schema",
    schema: { anyOf: [schema], type: ["string", "null"] },
    param: "schema",
  });
  const accepts = (value: string) => machine.accepts(jsonText(value));
  expect(valid.filter((value) => !accepts(value))).toEqual([]);
  expect(invalid.filter(accepts)).toEqual([]);
});

test("where the most characters are read, no way leads to a text that would be longer", () => {
  const schema = { type: "string", pattern: "^(?:a|b---)+$", maxLength: 5 };
  const { machine } = compile({ kind: "schema", schema, param: "schema" });
  const next = (read: string) => {
    const at = Array.from(read).reduce<ReturnType<typeof machine.next>>(
      (place, letter) => place && machine.next(place, letter.charCodeAt(0)),
      machine.start(),
    );
    return Array.from('ab-"').filter((letter) => at && machine.next(at, letter.charCodeAt(0)));
  };
  expect([next('"a'), next('"aa'), next('"aaaaa')]).toEqual([["a", "b", '"'], ["a", '"'], ['"']]);
});

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
