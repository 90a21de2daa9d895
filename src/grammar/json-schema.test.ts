// What schemas mean, by their drafts: values that are valid are taken, others are not.

/* eslint-disable unicorn/no-thenable -- "then" is a keyword of schemas */

import { expect, test } from "vitest";

import { rulesOf } from "./grammar-source.ts";
import { jsonText } from "./json-text.ts";
import { Machine } from "./machine.ts";
import { Program } from "./program.ts";

function machineOf(schema: unknown): Machine {
  return new Machine(new Program(rulesOf({ kind: "schema", schema, param: "schema" }).rules));
}

const DRAFT_4 = "http://json-schema.org/draft-04/schema#";
const DRAFT_7 = "http://json-schema.org/draft-07/schema#";
const DRAFT_2019 = "https://json-schema.org/draft/2019-09/schema";
const DRAFT_2020 = "https://json-schema.org/draft/2020-12/schema";

test.each<[what: string, schema: unknown, valid: unknown[], invalid: unknown[]]>([
  [
    "words of no draft, and annotations",
    { type: "boolean", id: "a", readonly: 1, links: [{}], "x-b": {}, $comment: "" },
    [true],
    [1],
  ],
  ["a format of no draft", { type: "string", format: "color" }, ["x"], [1]],
  ["no type", { required: ["a"] }, [1, "x", { a: 1 }], [{ b: 1 }]],
  [
    "properties that are not named",
    { properties: { a: { type: "integer" } } },
    [{ a: 1, b: "x" }, { 'q"': 1 }],
    [{ a: "x" }],
  ],
  [
    "no other properties",
    { type: "object", properties: { a: {} }, additionalProperties: false },
    [{ a: 1 }, {}],
    [{ b: 1 }],
  ],
  [
    "allOf",
    {
      type: "object",
      allOf: [{ required: ["a"] }, { properties: { a: { type: "string" } } }, { properties: { a: { maxLength: 2 } } }],
    },
    [{ a: "xy" }],
    [{}, { a: "xyz" }, { a: 1 }],
  ],
  [
    "allOf of closed objects",
    { allOf: [{ properties: { a: {} }, additionalProperties: false }, { type: "object" }] },
    [{ a: 1 }],
    [{ b: 1 }],
  ],
  [
    "keywords beside anyOf",
    {
      type: "object",
      properties: { k: { type: "string" } },
      required: ["k"],
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    [
      { k: "x", a: 1 },
      { k: "x", b: 1 },
    ],
    [{ k: "x" }, { a: 1 }],
  ],
  [
    "oneOf whose schemas overlap",
    { type: "object", oneOf: [{ required: ["a"] }, { required: ["b"] }] },
    [{ a: 1 }, { b: 1 }],
    [{}, { a: 1, b: 1 }],
  ],
  [
    "oneOf that lengths tell apart",
    {
      oneOf: [
        { type: "string", maxLength: 2 },
        { type: "string", minLength: 2 },
      ],
    },
    ["a", "abc"],
    ["ab", 1],
  ],
  ["not", { type: "string", not: { enum: ["a", "b"] } }, ["c", "ab", ""], ["a", "b"]],
  ["not of a pattern", { type: "string", not: { pattern: "^x" } }, ["ax", ""], ["x", "xa"]],
  ["not of properties", { type: "object", not: { required: ["a"] } }, [{ b: 1 }, {}], [{ a: 1 }]],
  [
    "not of a constant in a property",
    { type: "object", not: { properties: { a: { const: 1 } }, required: ["a"] } },
    [{ a: 2 }, {}],
    [{ a: 1 }],
  ],
  ["not of a reference", { type: "string", not: { $ref: "#/$defs/a" }, $defs: { a: { const: "x" } } }, ["y"], ["x"]],
  [
    "if, then, else",
    {
      type: "object",
      properties: { a: {}, b: {} },
      if: { properties: { a: { const: 1 } }, required: ["a"] },
      then: { required: ["b"] },
      else: { properties: { b: false } },
    },
    [{ a: 1, b: 2 }, { a: 2 }, {}],
    [{ a: 1 }, { a: 2, b: 1 }],
  ],
  [
    "dependencies",
    {
      type: "object",
      properties: { a: {}, b: {}, c: { type: "integer" } },
      dependencies: { a: ["b"], b: { properties: { c: { const: 1 } } } },
    },
    [{ a: 1, b: 1 }, { c: 2 }, { b: 1, c: 1 }],
    [{ a: 1 }, { b: 1, c: 2 }],
  ],
  [
    "dependentRequired",
    { type: "object", dependentRequired: { a: ["b"] }, properties: { a: {}, b: {} } },
    [{ b: 1 }, { a: 1, b: 1 }],
    [{ a: 1 }],
  ],
  [
    "patternProperties",
    {
      type: "object",
      patternProperties: { "^x": { type: "integer" }, y$: { maximum: 5 } },
      additionalProperties: false,
    },
    [{ xa: 7 }, { xy: 5 }, { ay: "z" }],
    [{ xa: "7" }, { xy: 6 }, { b: 1 }],
  ],
  [
    "patternProperties beside properties",
    { properties: { xa: { minimum: 3 } }, patternProperties: { "^x": { type: "integer" } } },
    [{ xa: 3 }, { b: "c" }],
    [{ xa: 2 }, { xb: "c" }],
  ],
  [
    "propertyNames",
    { type: "object", properties: { b1: {} }, propertyNames: { pattern: "^[a-z]+$", maxLength: 3 } },
    [{ abc: 1 }, {}],
    [{ abcd: 1 }, { b1: 1 }],
  ],
  [
    "numbers of properties",
    {
      type: "object",
      properties: { a: {}, b: {}, c: {} },
      additionalProperties: false,
      minProperties: 2,
      maxProperties: 2,
    },
    [
      { a: 1, b: 1 },
      { b: 1, c: 1 },
    ],
    [{ a: 1 }, { a: 1, b: 1, c: 1 }],
  ],
  ["one property or more", { type: "object", minProperties: 1 }, [{ a: 1 }, { b: 1, c: 1 }], [{}]],
  [
    "lists of schemas",
    { type: "array", items: [{ type: "integer" }, { type: "string" }], additionalItems: { type: "null" } },
    [[], [1], [1, "a", null]],
    [["a"], [1, "a", 2]],
  ],
  [
    "prefixItems",
    { type: "array", prefixItems: [{ type: "integer" }], items: false, minItems: 1 },
    [[1]],
    [[], [1, 1], ["a"]],
  ],
  [
    "contains",
    { type: "array", items: { type: "integer" }, contains: { const: 3 }, minItems: 2 },
    [
      [1, 3],
      [3, 1, 1],
    ],
    [[3], [1, 2], []],
  ],
  [
    "numbers of those that contains finds, in a list of schemas",
    {
      type: "array",
      prefixItems: [{ type: "string" }],
      items: { type: ["integer", "string"] },
      allOf: [{ contains: { type: "integer" }, minContains: 2, maxContains: 3 }, { contains: { const: "b" } }],
      maxItems: 5,
    },
    [
      ["b", 1, 2],
      ["a", 1, "b", 2, 3],
    ],
    [
      ["b", 1],
      ["b", 1, 2, 3, 4],
      ["a", 1, 2],
      [1, 2, "b"],
      ["b", "b", "b", "b", 1, 2],
    ],
  ],
  ["contains that none need be valid under", { type: "array", contains: { const: 1 }, minContains: 0 }, [[], [2]], [1]],
  [
    "uniqueItems of listed values",
    { type: "array", items: { enum: ["a", "b"] }, uniqueItems: true },
    [["b", "a"], []],
    [["a", "a"]],
  ],
  ["multipleOf", { type: "integer", multipleOf: 7, minimum: -20 }, [14, 0, -14, 700], [13, -21, 71]],
  ["multipleOf of decimals", { type: "number", multipleOf: 0.25 }, [1.5, 2, -0.25], [0.3, 1.125]],
  [
    "a pattern and lengths",
    { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 3 },
    ["ab", "abc"],
    ["a", "abcd", "a1"],
  ],
  [
    "a pattern that looks ahead",
    { pattern: "^(?=.*\\d)(?!.*x|.*y$)[a-z\\d]{3,}$" },
    ["ab1", "y12"],
    ["abc", "1x2", "12y", "1a"],
  ],
  [
    "not looking ahead to names",
    { patternProperties: { "^(?!_|id$)": { type: "null" } } },
    [{ id: 1, a: null, ida: null }],
    [{ a: 1 }],
  ],
  [
    "a pattern of parts, and lengths",
    { type: "string", pattern: "a.*b", maxLength: 4 },
    ["ab", "xaby"],
    ["axxxb", "ba"],
  ],
  [
    "a format and a pattern",
    { type: "string", format: "date", pattern: "^20" },
    ["2024-02-29"],
    ["2023-02-29", "1999-01-01"],
  ],
  ["listed values and lengths", { enum: ["a", "abc", 3], type: "string", maxLength: 2 }, ["a"], ["abc", 3]],
  ["not of a number", { type: "number", not: { const: 10 } }, [1, 10.5], [10]],
  ["not of integers", { type: "number", not: { type: "integer" } }, [1.5, -0.25], [1, 0]],
  ["oneOf of integers and numbers", { oneOf: [{ type: "integer" }, { type: "number" }] }, [1.5], [1, "a"]],
  ["draft 4's exclusiveMinimum", { $schema: DRAFT_4, type: "integer", minimum: 3, exclusiveMinimum: true }, [4], [3]],
  ...[
    { $schema: DRAFT_4, dependentRequired: { a: ["b"] }, propertyNames: false, const: 1, if: true, then: false },
    { $schema: DRAFT_7, dependentSchemas: { a: false }, unevaluatedProperties: false, $dynamicRef: "#a" },
    { $schema: DRAFT_2019, $dynamicRef: "#a", dependencies: { a: ["b"] } },
    { $schema: DRAFT_2020, $recursiveRef: "#", dependencies: { a: ["b"] } },
  ].map((schema): [string, object, unknown[], unknown[]] => [
    "keywords of other drafts",
    { ...schema, type: "object" },
    [{ a: 1 }],
    [1],
  ]),
  ...[
    { $schema: DRAFT_7, prefixItems: [false], contains: { const: 1 }, minContains: 3 },
    { $schema: DRAFT_2019, prefixItems: [false], additionalItems: false },
    { $schema: DRAFT_2020, prefixItems: [{ const: 1 }], additionalItems: false },
    { $schema: DRAFT_4, contains: false, minContains: 2, unevaluatedItems: false },
  ].map((schema): [string, object, unknown[], unknown[]] => [
    "keywords of other drafts, of arrays",
    { ...schema, type: "array" },
    [[1, 2]],
    [1],
  ]),
  ["keywords beside $ref", { $ref: "#/$defs/a", maximum: 5, $defs: { a: { type: "integer" } } }, [5], [6]],
  [
    "$id and $anchor",
    {
      $id: "https://x.y/a",
      properties: { a: { $ref: "b#c" } },
      $defs: { b: { $id: "b", $defs: { c: { $anchor: "c", type: "null" } } } },
    },
    [{ a: null }],
    [{ a: 1 }],
  ],
  [
    "$dynamicRef and $recursiveRef, where only one schema can be meant",
    {
      type: "object",
      properties: { a: { $dynamicRef: "#n" }, b: { $ref: "#/$defs/r" } },
      $defs: { n: { $dynamicAnchor: "n", maximum: 3, not: { const: 1 } }, r: { items: { $recursiveRef: "#" } } },
    },
    [{ a: 2 }, { a: "x", b: [{ a: 3 }] }],
    [{ a: 4 }, { a: 1 }, { b: [{ a: 4 }] }],
  ],
  ["if without then and else", { type: "integer", if: { pattern: "(?<=a)b" } }, [1], ["a"]],
  [
    "draft 4's id",
    {
      $schema: DRAFT_4,
      properties: { a: { $ref: "b.json#/definitions/c" } },
      definitions: { b: { id: "b.json", definitions: { c: { type: "null" } } } },
    },
    [{ a: null }],
    [{ a: 1 }],
  ],
  [
    "unevaluatedProperties",
    { allOf: [{ properties: { a: {} } }], properties: { b: {} }, unevaluatedProperties: false },
    [{ b: 1, a: 1 }],
    [{ c: 1 }],
  ],
  [
    "a schema that contains itself in allOf",
    {
      type: "object",
      properties: { n: { allOf: [{ $ref: "#" }, { maxProperties: 1 }] } },
      additionalProperties: false,
    },
    [{ n: { n: {} } }],
    [{ n: { m: 1 } }],
  ],
])("%s: %j", (_, schema, valid, invalid) => {
  const machine = machineOf(schema);
  for (const value of valid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(true);
  for (const value of invalid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(false);
});

test("a dynamic reference that may mean one of several schemas is refused", () => {
  const $defs = { a: { $id: "a", $dynamicAnchor: "n" }, b: { $id: "b", $dynamicAnchor: "n", type: "null" } };
  expect(() => machineOf({ $ref: "a", $dynamicRef: "a#n", $defs })).toThrow("schema.$dynamicRef is not supported");
});

test("a name that comes again counts once, so a least number of free names is refused", () => {
  expect(() => machineOf({ type: "object", minProperties: 2 })).toThrow("schema.minProperties is not supported");
});

test("what two patterns and a length leave is neither more nor less than a simple search finds", () => {
  const schema = { type: "string", allOf: [{ pattern: "^(a|b)*$" }, { pattern: "ab" }], maxLength: 4 };
  const machine = machineOf(schema);
  const texts = (length: number): string[] =>
    length === 0 ? [""] : texts(length - 1).flatMap((text) => ["a", "b", "c"].map((letter) => text + letter));
  for (const text of [0, 1, 2, 3, 4, 5].flatMap(texts)) {
    expect(machine.accepts(`"${text}"`), text).toBe(/^[ab]*$/.test(text) && text.includes("ab") && text.length <= 4);
  }
});

test.each<[pattern: string, good: string[], bad: string[]]>([
  ["any", ['{\n  "a": [\n    1, 2 ]\n}', '{"a":[]}', '{"a": [1, 2]}'], ['{"a":[1 2]}', '{"a":[1]} ']],
  ["[ ]?", ['{"a":[1,2]}', '{ "a" : [ 1 , 2 ] }'], ['{\n"a":[]}', '{  "a":[]}']],
])("with the white space %j, %j are taken and %j are not", (pattern, good, bad) => {
  const schema = { properties: { a: { type: "array", items: { type: "integer" } } }, type: "object" };
  const whitespace = { pattern, param: "structured_outputs.whitespace_pattern" };
  const machine = new Machine(new Program(rulesOf({ kind: "schema", schema, param: "schema", whitespace }).rules));
  for (const text of good) expect(machine.accepts(text), text).toBe(true);
  for (const text of bad) expect(machine.accepts(text), text).toBe(false);
});

const besideReference = { $ref: "#/definitions/a", maximum: 5, definitions: { a: { type: "integer" } } };

test.each([3, 4, "04", "06", "07"])("keywords beside $ref are ignored in draft %s", (draft) => {
  const machine = machineOf({ $schema: `http://json-schema.org/draft-${draft}/schema#`, ...besideReference });
  expect(["6", '"x"'].map((text) => machine.accepts(text))).toEqual([true, false]);
});

test.each([
  "https://json-schema.org/draft/2019-09/schema",
  "https://json-schema.org/draft/2020-12/schema",
  "http://json-schema.org/draft-08/schema#", // a working name of 2019-09
  "http://json-schema.org/schema#",
  "https://example.com/own.json",
])("keywords beside $ref are merged in %s", ($schema) => {
  const machine = machineOf({ $schema, ...besideReference });
  expect(["5", "6"].map((text) => machine.accepts(text))).toEqual([true, false]);
});

test("white space that has other characters is refused", () => {
  const whitespace = { pattern: "[ x]*", param: "structured_outputs.whitespace_pattern" };
  const source = { kind: "schema", schema: {}, param: "schema", whitespace } as const;
  expect(() => rulesOf(source)).toThrow(
    "structured_outputs.whitespace_pattern must be a regular expression of white space",
  );
});

test.each<[schema: object, texts: string[]]>([
  [{ type: "number", not: { const: 10 } }, ["10.0", "1e1", "100E-1"]],
  [{ type: "number", not: { type: "integer" } }, ["1.0", "-0.00", "15e1", "10e-1"]],
  [{ type: "number", multipleOf: 3 }, ["1e1", "3.5", "3."]],
])("%j takes no other spelling of what it excludes", (schema, texts) => {
  const machine = machineOf(schema);
  for (const text of texts) expect(machine.accepts(text), text).toBe(false);
});
