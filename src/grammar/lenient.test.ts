// A lenient schema goes without what can't be held: it takes every valid value, and says what it goes without.

/* eslint-disable unicorn/no-thenable -- "then" is a keyword of schemas */

import { expect, test } from "vitest";

import { compile, schemaProblem } from "./compile.ts";
import { jsonText } from "./json-text.ts";

const UNIQUE = { type: "array", items: { type: "integer" }, uniqueItems: true };
const BEHIND = { type: "string", pattern: "(?<=a)b" };
const list = (length: number, value: unknown) => Array.from({ length }, () => value);

test.each<[what: string, schema: object, leftOut: string[], valid: unknown[], invalid: unknown[]]>([
  ["nothing", { type: "integer", minimum: 3 }, [], [3], [2]],
  ["uniqueItems", UNIQUE, ["uniqueItems"], [[1, 2]], [["a"]]],
  [
    "two in different places",
    { properties: { a: UNIQUE, b: { anyOf: [{ type: "null" }, BEHIND] } }, required: ["a"] },
    ["properties.a.uniqueItems", "properties.b.anyOf[1].pattern"],
    [{ a: [2], b: "ab" }],
    [{ a: [1], b: 7 }, {}],
  ],
  [
    "a reference's, in both of its places",
    { $defs: { u: UNIQUE }, properties: { a: { $ref: "#/$defs/u" }, b: { $ref: "#/$defs/u" } } },
    ["$defs.u.uniqueItems"],
    [{ a: [1], b: [2] }],
    [{ b: 1 }],
  ],
  ["not, where the opposite can't be said", { not: UNIQUE }, ["not"], [1, [1, 1]], []],
  ["not of a single object", { type: "object", not: { const: { a: 1 } } }, ["not"], [{}], [1]],
  [
    "not of a reference that is left out elsewhere",
    { $defs: { p: BEHIND }, properties: { a: { $ref: "#/$defs/p" }, b: { not: { $ref: "#/$defs/p" } } } },
    ["$defs.p.pattern", "properties.b.not"],
    [{ a: "ab", b: "b" }],
    [{ a: 1 }],
  ],
  [
    "if",
    { if: { properties: { a: UNIQUE } }, then: { required: ["b"] }, properties: { c: { type: "null" } } },
    ["if", "if.properties.a.uniqueItems"],
    [{ a: [1], b: 1 }, { a: [1, 1] }],
    [{ c: 1 }],
  ],
  [
    "then",
    { if: { required: ["a"] }, then: { properties: { a: UNIQUE } }, else: { properties: { b: { type: "null" } } } },
    ["then.properties.a.uniqueItems"],
    [{ a: [1] }, { b: null }],
    [{ a: 1 }, { b: 1 }],
  ],
  [
    "oneOf, which is an anyOf then",
    {
      oneOf: [
        { items: { type: "integer" }, uniqueItems: true, type: "array" },
        { type: "array", maxItems: 1 },
      ],
    },
    ["oneOf", "oneOf[0].uniqueItems"],
    [["a"], [1, 2]],
    ["a", ["a", "b"]],
  ],
  [
    "patterns of names, with what holds for the others",
    { patternProperties: { "(?<=a)b": { type: "null" } }, additionalProperties: false, maxProperties: 1 },
    ["patternProperties", "additionalProperties"],
    [{ ab: null }],
    [{ ab: null, ac: null }],
  ],
  [
    "patterns of names, with unevaluatedProperties around",
    { allOf: [{ patternProperties: { "(?<=a)b": { type: "null" } } }], unevaluatedProperties: false },
    ["allOf[0].patternProperties", "unevaluatedProperties"],
    [{ ab: null }],
    [],
  ],
  ["a pattern that is none", { type: "string", pattern: "(?P<a>b)" }, ["pattern"], ["b"], [1]],
  ["a multiple of many digits", { type: "number", multipleOf: 1e-8 }, ["multipleOf"], [0], ["a"]],
  ["a least number of free names", { type: "object", minProperties: 3 }, ["minProperties"], [{}], [1]],
  [
    "a listed object that can't be checked",
    { enum: [{ b: 1, a: 2 }, 7], properties: { a: UNIQUE } },
    ["enum", "properties.a.uniqueItems"],
    [7],
    [{ a: 3 }],
  ],
])("%s: %j", (_, schema, leftOut, valid, invalid) => {
  const { machine, warnings } = compile({ kind: "schema", schema, param: "schema", isLenient: true });
  expect(warnings.map(({ param }) => param).toSorted()).toEqual(leftOut.map((place) => `schema.${place}`).toSorted());
  for (const { keyword, param } of warnings) expect(param.split(".").at(-1)).toBe(keyword);
  if (leftOut.length > 0) expect(warnings.map(({ message }) => message)).toContain(schemaProblem(schema));
  for (const value of valid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(true);
  for (const value of invalid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(false);
});

test("many keywords in many places are left out", () => {
  const schema = {
    type: "object",
    properties: Object.fromEntries(list(300, UNIQUE).map((one, i) => [`p${i}`, { ...(one as object) }])),
  };
  const { warnings } = compile({ kind: "schema", schema, param: "schema", isLenient: true });
  expect(warnings).toHaveLength(300);
});

test.each([{ type: "text" }, { $ref: "#/nowhere" }, { minLength: -1 }, { enum: [] }])(
  "%j is refused all the same",
  (schema) => {
    expect(() => compile({ kind: "schema", schema, param: "schema", isLenient: true })).toThrow("schema");
  },
);

test("rules of a grammar that schemas describe may be lenient, each by itself", () => {
  const sources = (isLenient: boolean) => {
    const lax = { kind: "schema", schema: UNIQUE, param: "tools[0].function.parameters", isLenient } as const;
    const other = { kind: "schema", schema: { const: 1 }, param: "tools[1].function.parameters" } as const;
    return [
      { name: "a", source: lax },
      { name: "b", source: other },
    ];
  };
  const { warnings } = compile({ kind: "ebnf", ebnf: "root ::= a | b", schemas: sources(true), param: "tools" });
  expect(warnings.map(({ param }) => param)).toEqual(["tools[0].function.parameters.uniqueItems"]);
  expect(() => compile({ kind: "ebnf", ebnf: "root ::= a | b", schemas: sources(false), param: "tools" })).toThrow(
    "uniqueItems",
  );
});
