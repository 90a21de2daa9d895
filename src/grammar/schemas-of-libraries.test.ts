// Schemas that people's libraries make: what the library takes is taken, what it refuses is not, and what is drawn at random
// from a grammar is parsed back by the library.

import { Type, type TSchema } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { toJsonSchema } from "@valibot/to-json-schema";
import { Ajv2020 } from "ajv/dist/2020.js";
import * as v from "valibot";
import { expect, test } from "vitest";
import { z } from "zod";

import { drawAnswer, grammarCompiler } from "../../tests/requests/grammars.ts";
import { MCP, OPENAI, PYDANTIC, type Row } from "../../tests/requests/made-schemas.ts";
import { loadChorusTokenizer } from "../../tests/requests/request-context.ts";
import { seededRandom } from "../../lab/seeded-random.ts";
import { compile } from "./compile.ts";
import { jsonText } from "./json-text.ts";

interface Library {
  readonly schema: unknown;
  readonly takes: (value: unknown) => boolean;
}

const tree: z.ZodType = z.object({
  name: z.string().max(3),
  get kids(): z.ZodType {
    return z.array(tree).max(2);
  },
});
const shape = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("circle"), radius: z.number().positive() }),
  z.object({ kind: z.literal("box"), sides: z.tuple([z.int(), z.int()]) }),
]);
const ZOD: Row<z.ZodType>[] = [
  ["email", z.email(), ["a@b.co"], ["a"]],
  ["uuid", z.uuid(), ["123e4567-e89b-12d3-a456-426614174000"], ["x"]],
  ["iso.date", z.iso.date(), ["2024-02-29"], ["2023-02-29"]],
  ["iso.datetime", z.iso.datetime({ offset: true }), ["2024-02-29T12:00:00+01:00"], ["2024-02-29"]],
  ["ipv4", z.ipv4(), ["1.2.3.4"], ["1.2.3.256"]],
  ["base64", z.base64(), ["YQ=="], ["YQ="]],
  ["record", z.record(z.string(), z.number()), [{ a: 1 }], [{ a: "b" }]],
  ["record of names", z.record(z.enum(["a", "b"]), z.int()), [{ a: 1, b: 2 }], [{ a: 1, c: 2 }, { a: 1 }]],
  ["partialRecord", z.partialRecord(z.enum(["a", "b"]), z.int()), [{ b: 2 }], [{ c: 2 }]],
  ["record of a pattern", z.record(z.string().regex(/^x-/), z.int()), [{ "x-a": 1 }], [{ a: 1 }]],
  ["tuple", z.tuple([z.string(), z.int()]), [["a", 1]], [["a", "b"], ["a"]]],
  ["tuple with a rest", z.tuple([z.string()], z.int()), [["a"], ["a", 1, 2]], [[], ["a", "b"]]],
  ["startsWith", z.string().startsWith("ab").max(4), ["abcd"], ["b", "abcde"]],
  ["templateLiteral", z.templateLiteral(["v", z.int(), z.enum(["a", "b"])]), ["v12a"], ["va", "v1c"]],
  [
    "nullish and default",
    z.object({ a: z.string().nullish(), b: z.int().default(3) }),
    [{ a: null, b: 1 }],
    [{ a: 1 }],
  ],
  [
    "intersection",
    z.intersection(z.object({ a: z.int() }), z.object({ b: z.string() })),
    [{ a: 1, b: "x" }],
    [{ a: 1 }],
  ],
  ["union", z.union([z.string(), z.int(), z.null()]), ["a", 1, null], [true]],
  ["xor", z.xor([z.strictObject({ a: z.int() }), z.strictObject({ b: z.int() })]), [{ a: 1 }], [{ a: 1, b: 1 }]],
  [
    "discriminatedUnion",
    shape,
    [
      { kind: "circle", radius: 1.5 },
      { kind: "box", sides: [1, 2] },
    ],
    [{ kind: "box", radius: 1 }],
  ],
  ["literals", z.literal(["a", 1, null]), ["a", 1, null], ["b", 2]],
  ["multipleOf", z.int().multipleOf(5), [15], [7]],
  ["int", z.int(), [9007199254740991, -9007199254740991], [1.5, 9007199254740992]],
  ["int32", z.int32(), [-2147483648], [2147483648]],
  ["float32", z.float32(), [1e-10, 3e38], [3.5e38]],
  ["strictObject", z.strictObject({ a: z.int() }), [{ a: 1 }], [{ a: 1, b: 2 }]],
  ["looseObject", z.looseObject({ a: z.int() }), [{ a: 1, b: "x" }], [{ a: "x" }]],
  ["catchall", z.object({ a: z.int() }).catchall(z.boolean()), [{ a: 1, b: true }], [{ a: 1, b: 1 }]],
  ["array", z.array(z.boolean()).min(1).max(2), [[true]], [[], [true, true, false]]],
  [
    "an object that contains itself",
    tree,
    [{ name: "a", kids: [{ name: "b", kids: [] }] }],
    [{ name: "a", kids: [1] }],
  ],
  [
    "partial, of an extended one",
    z.object({ a: z.int() }).extend({ b: z.int() }).partial(),
    [{}, { b: 1 }],
    [{ b: "x" }],
  ],
];

interface Node {
  readonly name: string;
  readonly kids: readonly Node[];
}
const node: v.GenericSchema<Node> = v.object({
  name: v.pipe(v.string(), v.maxLength(2)),
  kids: v.pipe(v.array(v.lazy(() => node)), v.maxLength(2)),
});
const VALIBOT: Row<v.GenericSchema>[] = [
  ["object with an optional", v.object({ a: v.string(), b: v.optional(v.boolean()) }), [{ a: "x" }], [{ b: true }]],
  ["strictObject", v.strictObject({ a: v.string() }), [{ a: "x" }], [{ a: "x", b: 1 }]],
  ["objectWithRest", v.objectWithRest({ a: v.string() }, v.boolean()), [{ a: "x", b: true }], [{ a: "x", b: 1 }]],
  ["integers in bounds", v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(5)), [3], [0, 6, 1.5]],
  ["isoTimestamp", v.pipe(v.string(), v.isoTimestamp()), ["2024-02-29T12:00:00Z"], ["2024"]],
  [
    "nonEmpty, with a pattern",
    v.pipe(v.string(), v.regex(/^a*$/), v.nonEmpty(), v.maxLength(3)),
    ["aaa"],
    ["", "aaaa"],
  ],
  [
    "variant",
    v.variant("k", [v.object({ k: v.literal("a"), x: v.boolean() }), v.object({ k: v.literal("b") })]),
    [{ k: "b" }],
    [{ k: "a" }],
  ],
  ["picklist, nullable", v.nullable(v.picklist(["a", "b"])), ["a", null], ["c"]],
  ["strictTuple", v.strictTuple([v.string(), v.boolean()]), [["a", true]], [["a"], ["a", true, 1]]],
  ["tupleWithRest", v.tupleWithRest([v.string()], v.boolean()), [["a", true, false]], [["a", 1]]],
  ["record of a pattern", v.record(v.pipe(v.string(), v.regex(/^x/)), v.boolean()), [{ xa: true }], [{ a: true }]],
  [
    "record with a number of entries",
    v.pipe(v.record(v.string(), v.boolean()), v.minEntries(1), v.maxEntries(2)),
    [{ a: true }],
    [{}],
  ],
  [
    "intersect",
    v.intersect([v.object({ a: v.string() }), v.object({ b: v.boolean() })]),
    [{ a: "x", b: true }],
    [{ a: "x" }],
  ],
  ["lazy", node, [{ name: "a", kids: [{ name: "b", kids: [] }] }], [{ name: "a", kids: [{}] }]],
];

const TYPEBOX: Row<TSchema>[] = [
  [
    "Object",
    Type.Object({ a: Type.String(), b: Type.Optional(Type.Integer()) }, { additionalProperties: false }),
    [{ a: "x", b: 1 }],
    [{ a: "x", c: 1 }],
  ],
  ["Union of literals", Type.Union([Type.Literal("a"), Type.Literal(2), Type.Null()]), ["a", 2, null], ["b", 1]],
  [
    "Intersect, closed",
    Type.Intersect([Type.Object({ a: Type.String() }), Type.Object({ b: Type.Boolean() })], {
      unevaluatedProperties: false,
    }),
    [{ a: "x", b: true }],
    [{ a: "x", b: true, c: 1 }],
  ],
  ["Tuple", Type.Tuple([Type.String(), Type.Integer()]), [["a", 1]], [["a"], ["a", 1, 2]]],
  [
    "Record of a template",
    Type.Record(Type.TemplateLiteral("x-${string}"), Type.Boolean(), { additionalProperties: false }),
    [{ "x-a": true }],
    [{ a: true }],
  ],
  [
    "Recursive",
    Type.Recursive((This) => Type.Object({ kids: Type.Array(This, { maxItems: 2 }) })),
    [{ kids: [{ kids: [] }] }],
    [{ kids: [1] }],
  ],
  ["TemplateLiteral", Type.TemplateLiteral("v${0|1|2}.${boolean}"), ["v2.true"], ["v3.true"]],
  ["Not", Type.Not(Type.String()), [1, null], ["a"]],
  [
    "unique values of a union",
    Type.Array(Type.Union([Type.Literal("a"), Type.Literal("b")]), { uniqueItems: true }),
    [["b", "a"]],
    [["a", "a"]],
  ],
  [
    "numbers of contained ones",
    Type.Array(Type.Integer({ minimum: 0, maximum: 3 }), {
      contains: Type.Literal(1),
      minContains: 1,
      maxContains: 2,
      maxItems: 5,
    }),
    [[1], [0, 1, 1]],
    [[0], [1, 1, 1]],
  ],
  ["Integer", Type.Integer({ minimum: 0, exclusiveMaximum: 10, multipleOf: 2 }), [8], [10, 3]],
  [
    "Module",
    Type.Module({
      A: Type.Object({ b: Type.Array(Type.Ref("B"), { maxItems: 2 }) }),
      B: Type.Object({ a: Type.Optional(Type.Ref("A")) }),
    }).Import("A"),
    [{ b: [{ a: { b: [] } }] }],
    [{ b: [{ a: 1 }] }],
  ],
];

const ajv = new Ajv2020({ strict: false, validateFormats: false });
/** The validator knows no other draft by name. */
const ofAjv = (schema: object) => ajv.compile({ ...schema, $schema: "https://json-schema.org/draft/2020-12/schema" });

const all = <T>(name: string, rows: readonly Row<T>[], library: (schema: T) => Library) =>
  rows.map(([what, schema, valid, invalid]) => ({ what: `${name}: ${what}`, ...library(schema), valid, invalid }));
const CASES = [
  ...all("zod", ZOD, (schema) => ({
    schema: z.toJSONSchema(schema),
    takes: (value) => schema.safeParse(value).success,
  })),
  ...all("valibot", VALIBOT, (schema) => ({ schema: toJsonSchema(schema), takes: (value) => v.is(schema, value) })),
  ...all("TypeBox", TYPEBOX, (schema) => ({
    schema: structuredClone({ ...schema }),
    takes: (value) => Value.Check(schema, value),
  })),
  ...all("Pydantic", PYDANTIC, (schema) => ({ schema, takes: ofAjv(schema) })),
  ...all("OpenAI", OPENAI, (schema) => ({ schema, takes: ofAjv(schema) })),
  ...all("MCP", MCP, (schema) => ({ schema, takes: ofAjv(schema) })),
];

const tokenizer = await loadChorusTokenizer();
const VOCABULARY = Array.from({ length: 4096 }, (_, id) => tokenizer.tokenBytes(id));
const [EOS = 0] = tokenizer.eosTokenIds;
const compiler = grammarCompiler(VOCABULARY);
const CLOSING = ['"', "]", "}", '"]', '"}'].flatMap((text) => tokenizer.encodePlain(text));

test.each(CASES)("$what", async ({ what, schema, takes, valid, invalid }) => {
  const { machine } = compile({ kind: "schema", schema, param: "schema" });
  for (const value of valid) {
    expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(true);
    if (!("since" in Object(value))) expect(takes(value), jsonText(value)).toBe(true);
  }
  for (const value of invalid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(false);
  if (what === "valibot: isoTimestamp") return; // It takes no "t" and "z", which the format has.
  let numFinished = 0;
  for (let seed = 0; seed < 5; seed++) {
    const [matcher] = await compiler.matchers({ kind: "schema", schema, param: "schema" }, [EOS], 1);
    const tokens = await drawAnswer(matcher!, 200, seededRandom(seed), [EOS, ...CLOSING]);
    if (tokens === null) continue;
    numFinished += 1;
    const text = new TextDecoder().decode(Uint8Array.from(tokens.flatMap((id) => [...VOCABULARY[id]!])));
    expect(takes(JSON.parse(text)), text).toBe(true);
  }
  expect(numFinished).toBeGreaterThan(0);
});
