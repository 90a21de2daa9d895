// 120 random schemas: whatever is drawn from what their grammars allow, over a real vocabulary, is valid under them.

import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { expect, test } from "vitest";

import { anyText } from "../../tests/any-text.ts";
import { drawAnswer, grammarCompiler } from "../../tests/requests/grammars.ts";
import { loadChorusTokenizer } from "../../tests/requests/request-context.ts";

const tokenizer = await loadChorusTokenizer();
const VOCABULARY = Array.from({ length: 4096 }, (_, id) => tokenizer.tokenBytes(id));
const [EOS = 0] = tokenizer.eosTokenIds;
const compiler = grammarCompiler(VOCABULARY);

const name = fc.constantFrom("a", "ab", "b", "name", "né", 'quo"te', "", "__proto__x");
const scalar = fc.oneof(
  anyText(5),
  fc.integer(),
  fc.boolean(),
  fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
);
const ordered = (low: string, high: string, values: fc.Arbitrary<number>) =>
  fc.tuple(values, values).chain(([a, b]) =>
    fc
      .subarray([
        [low, Math.min(a, b)],
        [high, Math.max(a, b)],
      ] as [string, number][])
      .map((entries) => Object.fromEntries(entries)),
  );
const bounds = (values: fc.Arbitrary<number>) =>
  fc.oneof(
    ordered("minimum", "maximum", values),
    ordered("minimum", "exclusiveMaximum", values),
    ordered("exclusiveMinimum", "maximum", values),
  );

const { schema } = fc.letrec<{ schema: object; leaf: object }>((tie) => ({
  leaf: fc.oneof(
    bounds(fc.integer({ min: -2000, max: 2000 })).map((limits) => ({ type: "integer", ...limits })),
    bounds(fc.double({ min: -1e4, max: 1e4, noNaN: true }).map((value) => Number(value.toFixed(3)))).map((limits) => ({
      type: "number",
      ...limits,
    })),
    ordered("minLength", "maxLength", fc.nat(12)).map((lengths) => ({ type: "string", ...lengths })),
    fc
      .constantFrom("^[a-z]{2,5}$", "\\d+", "^(yes|no)", '[^"\\\\]$', "^.{0,4}é?$", "^\\w+( \\w+)*$")
      .map((pattern) => ({ type: "string", pattern })),
    fc
      .constantFrom("date", "time", "date-time", "uuid", "ipv4", "ipv6", "email", "hostname", "duration")
      .map((format) => ({ type: "string", format })),
    fc.constantFrom({ type: "boolean" }, { type: "null" }, { type: ["string", "null"], maxLength: 3 }),
    fc
      .uniqueArray(scalar, { minLength: 1, maxLength: 4, comparator: "SameValueZero" })
      .map((values) => ({ enum: values })),
    scalar.map((value) => ({ const: value })),
  ),
  schema: fc.oneof(
    { maxDepth: 3, depthIdentifier: "schema" },
    { arbitrary: tie("leaf"), weight: 2 },
    {
      weight: 3,
      arbitrary: fc
        .record({
          properties: fc.dictionary(name, tie("schema"), { maxKeys: 4 }),
          additional: fc.option(fc.oneof(fc.boolean(), tie("leaf")), { nil: undefined }),
          isRequired: fc.func(fc.boolean()),
        })
        .map(({ properties, additional, isRequired }) => ({
          type: "object",
          properties,
          required: Object.keys(properties).filter((key) => isRequired(key)),
          ...(additional !== undefined && { additionalProperties: additional }),
        })),
    },
    {
      weight: 2,
      arbitrary: fc
        .tuple(tie("schema"), ordered("minItems", "maxItems", fc.nat(4)))
        .map(([items, counts]) => ({ type: "array", items, ...counts })),
    },
    {
      weight: 1,
      arbitrary: fc
        .tuple(
          fc.array(tie("schema"), { minLength: 1, maxLength: 3 }),
          fc.constantFrom({}, { items: false }, { items: { type: "integer" } }),
        )
        .map(([prefixItems, rest]) => ({ type: "array", prefixItems, ...rest })),
    },
    { weight: 1, arbitrary: fc.array(tie("schema"), { minLength: 1, maxLength: 3 }).map((anyOf) => ({ anyOf })) },
  ),
}));

/** Random texts go on for long: where something can be closed, it often is. */
const MAX_TOKENS = 200;
const CLOSING = ['"', "]", "}", '"]', '"}'].flatMap((text) => tokenizer.encodePlain(text));

test("every finished answer to 120 random schemas parses and is valid", async () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  let finished = 0;
  let characters = 0;
  for (const [i, one] of fc.sample(schema, { numRuns: 120, seed: 8 }).entries()) {
    const isValid = ajv.compile(one);
    const [matcher] = await compiler.matchers({ kind: "schema", schema: one, param: "schema" }, [EOS], 1);
    const random = seededRandom(i);
    const tokens = await drawAnswer(matcher!, MAX_TOKENS, random, [EOS, ...CLOSING]);
    matcher!.dispose();
    if (tokens === null) continue;
    finished += 1;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(
      Uint8Array.from(tokens.flatMap((id) => [...VOCABULARY[id]!])),
    );
    characters += text.length;
    expect(isValid(JSON.parse(text)), `${JSON.stringify(one)} and ${text}: ${ajv.errorsText(isValid.errors)}`).toBe(
      true,
    );
  }
  expect(finished).toBeGreaterThan(90);
  expect(characters).toBeGreaterThan(3000);
});

function seededRandom(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0;
    return ((state ^ (state >>> 12)) >>> 0) / 2 ** 32;
  };
}
