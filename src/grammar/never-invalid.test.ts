// What a schema seems to allow at first sight, and doesn't: such schemas hold, or are refused with their place.

/* eslint-disable unicorn/no-thenable -- "then" is a keyword of schemas */

import { expect, test } from "vitest";

import { rulesOf } from "./grammar-source.ts";
import { jsonText } from "./json-text.ts";
import { Machine } from "./machine.ts";
import { Program } from "./program.ts";

function machineOf(schema: unknown): Machine {
  return new Machine(new Program(rulesOf({ kind: "schema", schema, param: "schema" }).rules));
}

const CLOSED = { type: "object", unevaluatedProperties: false };
const A_IS_1 = { properties: { a: { const: 1 } }, required: ["a"] };

test.each<[what: string, schema: object, valid: unknown[], invalid: unknown[]]>([
  [
    "uniqueItems of values in two lists",
    { type: "array", uniqueItems: true, items: { anyOf: [{ enum: [1, 2] }, { enum: [2, 3] }] } },
    [[1, 2, 3]],
    [[2, 2]],
  ],
  [
    "uniqueItems of a value listed twice",
    { type: "array", uniqueItems: true, items: { enum: [1, 1] } },
    [[1]],
    [[1, 1]],
  ],
  [
    "unevaluatedProperties in one of allOf, which knows nothing of the other",
    { type: "object", allOf: [{ properties: { a: {} }, unevaluatedProperties: false }, { properties: { b: {} } }] },
    [{ a: 1 }, {}],
    [{ b: 1 }, { a: 1, b: 1 }],
  ],
  [
    "unevaluatedProperties beside oneOf, of which one schema fails",
    { ...CLOSED, oneOf: [A_IS_1, { properties: { b: { type: "string" } }, required: ["b"] }] },
    [{ a: 1 }, { b: "x" }],
    [
      { a: 1, b: 2 },
      { a: 2, b: "x" },
    ],
  ],
  [
    "unevaluatedProperties beside if, which fails",
    {
      ...CLOSED,
      if: { properties: { k: { const: 1 } }, required: ["k"] },
      then: { properties: { a: {} } },
      else: { properties: { b: {} } },
    },
    [{ k: 1, a: 1 }, { b: 1 }],
    [{ k: 2 }, { k: 1, b: 1 }, { a: 1 }],
  ],
  [
    "unevaluatedProperties in a property that two schemas describe",
    {
      type: "object",
      allOf: [
        { properties: { p: { ...CLOSED, properties: { a: {} } } } },
        { properties: { p: { ...CLOSED, properties: { a: {}, b: {} } } } },
      ],
    },
    [{ p: { a: 1 } }],
    [{ p: { b: 1 } }],
  ],
  [
    "unevaluatedProperties around another one that lets all else pass",
    { ...CLOSED, allOf: [{ properties: { a: {} }, unevaluatedProperties: { type: "integer" } }] },
    [{ a: "x", b: 1 }],
    [{ b: "x" }],
  ],
])("%s: %j", (_, schema, valid, invalid) => {
  const machine = machineOf(schema);
  for (const value of valid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(true);
  for (const value of invalid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(false);
});

test.each<[schema: object, texts: string[]]>([
  [{ type: "number", not: { const: 0.1 } }, ["0.10000000000000001"]],
  [{ type: "number", not: { const: 1e-7 } }, ["0.0000001", "0.00000010"]],
  [{ type: "number", not: { type: "integer" } }, ["0.99999999999999999", "4503599627370497.1"]],
  [{ oneOf: [{ type: "integer" }, { type: "number" }] }, ["0.99999999999999999"]],
])("%j takes no number that is read as one that it excludes", (schema, texts) => {
  const machine = machineOf(schema);
  expect(machine.accepts("0.123456789012345")).toBe(true);
  for (const text of texts) expect(machine.accepts(text), text).toBe(false);
});

test.each<[schema: object, problem: string]>([
  [
    { type: "array", uniqueItems: true, items: { enum: ["a", "b"] }, contains: { const: "a" } },
    "schema.contains is not supported",
  ],
  [{ ...CLOSED, not: { properties: { a: { const: 1 } } } }, "schema describes nothing"],
  [{ ...CLOSED, not: { not: { properties: { a: {} } } } }, "schema.unevaluatedProperties is not supported"],
  [{ enum: [{ b: 1, a: 2 }], properties: { a: {}, b: {} } }, "schema.enum is not supported"],
  [{ enum: [1e30, 5], multipleOf: 5 }, "schema.enum is not supported"],
  [{ type: "string", pattern: String.raw`\ud83d\u0041` }, "d83d is the code of no character"],
])("%j is refused: %s", (schema, problem) => {
  expect(() => machineOf(schema)).toThrow(problem);
});

test.each(["regex", "idn-email", "idn-hostname"])("the format %s, which no grammar holds, is refused", (format) => {
  expect(() => machineOf({ type: "string", format })).toThrow("schema.format is not supported");
  expect(() => machineOf({ not: { format } })).toThrow("schema.not.format is not supported");
  expect(machineOf({ type: "integer", format }).accepts("1")).toBe(true);
});

test("a reference to an address or an anchor that two schemas have is refused", () => {
  const twice = (one: object) => ({ a: { ...one, type: "null" }, b: { ...one, type: "string" } });
  for (const [$ref, one] of [
    ["https://x.y/a", { $id: "https://x.y/a" }],
    ["#a", { $anchor: "a" }],
  ] as const) {
    expect(() => machineOf({ $ref, $defs: twice(one) })).toThrow("schema.$ref must be");
    expect(machineOf({ $ref: "#/$defs/a", $defs: twice(one) }).accepts("null")).toBe(true);
  }
});
