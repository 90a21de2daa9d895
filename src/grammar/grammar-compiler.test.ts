import { expect, test } from "vitest";

import { ChorusError } from "../protocol/errors.ts";
import { BYTE_VOCABULARY, byteTokens, EOS } from "../../tests/fakes/engine-harness.ts";
import { allowedIds, drawAnswer, grammarCompiler } from "../../tests/requests/grammars.ts";
import type { GrammarSource } from "./grammar-source.ts";

const compiler = grammarCompiler(BYTE_VOCABULARY);

/** Whether a text, from its beginning to its end, is one of the grammar's. */
async function accepts(source: GrammarSource, text: string): Promise<boolean> {
  const [matcher] = await compiler.matchers(source, [EOS], 1);
  try {
    for (const id of [...byteTokens(text), EOS]) {
      await matcher?.prepareMask();
      if (!matcher?.accept(id)) return false;
    }
    return true;
  } finally {
    matcher?.dispose();
  }
}

const ebnf = (text: string): GrammarSource => ({ kind: "ebnf", ebnf: text, param: "structured_outputs.grammar" });
const regex = (pattern: string): GrammarSource => ({ kind: "regex", pattern, param: "regex" });
const choice = (...choices: string[]): GrammarSource => ({ kind: "choice", choices, param: "choice" });
const schema = (one: unknown): GrammarSource => ({ kind: "schema", schema: one, param: "schema" });

test("a mask has what may come next, and the end only where the text is complete", async () => {
  const [matcher] = await compiler.matchers(choice("yes", "yesterday", "no"), [EOS], 1);
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
  const [matcher] = await compiler.matchers(choice("yes", "no"), [EOS, letterN!], 1);
  expect(allowedIds(matcher!.mask)).toEqual(byteTokens("y"));
  matcher?.dispose();
});

test("sequences of a request follow their grammar each by itself", async () => {
  const [a, b] = await compiler.matchers(choice("ab", "cd"), [EOS], 2);
  expect(a?.accept(byteTokens("a")[0]!)).toBe(true);
  expect(b?.accept(byteTokens("c")[0]!)).toBe(true);
  expect([await a?.prepareMask(), allowedIds(a!.mask)]).toEqual([true, byteTokens("b")]);
  expect([await b?.prepareMask(), allowedIds(b!.mask)]).toEqual([true, byteTokens("d")]);
});

test("a vocabulary that is padded has no token in its padding", async () => {
  const padded = grammarCompiler(BYTE_VOCABULARY, 300);
  const [matcher] = await padded.matchers(regex("(.|\n)*"), [EOS], 1);
  expect(matcher?.mask).toHaveLength(10);
  expect(allowedIds(matcher!.mask).filter((id) => id > 0xf4)).toEqual([EOS]);
});

test.each([
  ['root ::= "a" [', "Unterminated character class"],
  ['start ::= "a"', "root"],
  ["root ::= missing", "missing"],
  ["hello", "root"],
  ['root ::= a\na ::= b\nb ::= a "x" | "y"', '"a" begins with itself'],
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

test("a schema's JSON is written on one line, and nothing else is taken", async () => {
  const source = schema({
    type: "object",
    properties: { a: { type: "integer" }, b: { type: "array", items: { type: "boolean" } } },
    required: ["a"],
  });
  expect(await accepts(source, '{"a": -7, "b": [true, false]}')).toBe(true);
  expect(await accepts(source, '{"a": 0}')).toBe(true);
  expect(await accepts(source, '{"b": []}')).toBe(false);
  expect(await accepts(source, '{ "a": 0}')).toBe(false);
  expect(await accepts(source, '{"a": 0}\n')).toBe(false);
  expect(await accepts(source, '{"a": 0.5}')).toBe(false);
});

test("an answer ends", async () => {
  const [matcher] = await compiler.matchers(regex("[ab]{3}"), [EOS], 1);
  let turn = 0;
  const answer = await drawAnswer(matcher!, 10, () => [0.1, 0.9, 0.4][turn++ % 3]!);
  expect(answer).toEqual(byteTokens("aba"));
});

test.each<[string, GrammarSource, string]>([
  [
    "a schema",
    schema({ type: "array", items: { type: "object", properties: { a: { type: "string", maxLength: 9 }, b: {} } } }),
    '[{"a": "x]", "b": [[], {"é": ""}]}, {}]',
  ],
  ["texts in a list", schema({ type: "array", items: { enum: ["", "a", 'a"', "]"] } }), '["", "a\\"", "]", "a"]'],
  ["an expression", regex('(a|bb?)+(, "x"){2,3}\\]?'), 'abba, "x", "x", "x"]'],
  ["choices", choice("a", "ab", "abba", "é]"), "abba"],
  ["a schema of itself", schema({ type: "array", items: { $ref: "#" } }), "[[[]], []]"],
  ["a grammar", ebnf('root ::= "[" (root | "a" "b"?)* "]"'), "[[abab][[]]a]"],
])("a token of several symbols is allowed just where its bytes are: in %s", async (_, source, text) => {
  const merged = [
    '"]',
    '"}',
    '", ',
    '": ',
    '": "',
    ', "',
    '", "',
    "{}",
    "[]",
    "]]",
    "}]",
    "[[",
    '[{"',
    "}, {",
    '"}]',
    "ab",
  ];
  const others = [
    "ba",
    "bb",
    "b]",
    "a]",
    '""',
    '"x"',
    '\\"',
    'é"',
    "é]",
    ']"',
    "abba",
    "",
    "[ ",
    ",  ",
    '"a',
    "a[",
    "xx",
  ];
  const vocabulary = [...BYTE_VOCABULARY, ...[...merged, ...others].map((one) => new TextEncoder().encode(one))];
  // A byte of a character, beside its end and a symbol.
  vocabulary.push(Uint8Array.of(0xa9, 0x22), Uint8Array.of(0x22, 0xc3));
  const wide = grammarCompiler(vocabulary);
  const goesOn = async (bytes: readonly number[]) => {
    const [matcher] = await wide.matchers(source, [EOS], 1);
    let isAccepted = true;
    for (const byte of bytes) {
      await matcher?.prepareMask();
      isAccepted &&= matcher?.accept(byte) ?? false;
    }
    matcher?.dispose();
    return isAccepted;
  };
  const [matcher] = await wide.matchers(source, [EOS], 1);
  const bytes = byteTokens(text);
  let numMerged = 0;
  for (let at = 0; at <= bytes.length; at++) {
    await matcher?.prepareMask();
    const allowed = allowedIds(matcher!.mask);
    const ids = allowed.filter((id) => id > EOS);
    const expected = [];
    for (let id = EOS + 1; id < vocabulary.length; id++) {
      const piece = vocabulary[id] ?? [];
      if (allowed.includes(piece[0] ?? -1) && (await goesOn([...bytes.slice(0, at), ...piece]))) expected.push(id);
    }
    expect(ids, text.slice(0, at)).toEqual(expected);
    numMerged += ids.length;
    if (at < bytes.length) expect(matcher?.accept(bytes[at]!), text.slice(0, at)).toBe(true);
  }
  expect(numMerged).toBeGreaterThan(3);
  expect(matcher?.accept(EOS)).toBe(true);
  matcher?.dispose();
});

test.each<[unknown, string, string]>([
  [{ type: "string", pattern: "(?<=a)b" }, "schema.pattern", "looks back"],
  [{ type: "number", multipleOf: 1e-7 }, "schema.multipleOf", "decimals"],
  [{ type: "array", uniqueItems: true }, "schema.uniqueItems", "enum"],
  [{ type: "array", contains: { const: 1 }, maxItems: 9999 }, "schema.contains", "too many elements"],
  [{ not: { const: [1] } }, "schema.not", "single array"],
  [{ not: { properties: { a: { uniqueItems: true } } } }, "schema.not.properties.a.uniqueItems", "other way round"],
  [{ oneOf: [{ additionalProperties: { type: "null" } }, { type: "object" }] }, "schema.oneOf", "anyOf"],
  [{ allOf: [{ type: "integer" }, { type: "string" }] }, "schema", "nothing"],
  [{ type: "object", minProperties: 2 }, "schema.minProperties", "required"],
  [{ type: "int" }, "schema.type", "integer"],
  [{ $ref: "#/$defs/missing" }, "schema.$ref", "there"],
  [{ $ref: "#/$defs/100%", $defs: { "100%": {} } }, "schema.$ref", "there"],
  [{ type: "integer", minimum: 3, maximum: 2 }, "schema", "nothing"],
  [{ type: "integer", minimum: 0.2, maximum: 0.8 }, "schema", "nothing"],
  [{ type: "string", pattern: "^ab$", not: { pattern: "b" } }, "schema", "nothing"],
  [{ type: "object", properties: { next: { $ref: "#" } }, required: ["next"] }, "schema", "nothing"],
  [{ $ref: "#" }, "schema", "nothing"],
  [false, "schema", "nothing"],
  [7, "schema", "an object, true or false"],
])("the schema %j can't be held to, and is refused by place", async (one, param, reason) => {
  const refused = compiler.matchers(schema(one), [EOS], 1);
  await expect(refused).rejects.toMatchObject({ name: "ChorusError", param, message: expect.stringContaining(reason) });
});

test.each<[unknown, string[], string[]]>([
  [{ type: "integer", maximum: 120 }, ["120", "-5"], ["121", "0120", "1e1", "-0"]],
  [{ type: "number", minimum: 0.25, exclusiveMaximum: 1 }, ["0.25", "0.999"], ["0.24", "1", "1.0"]],
  [
    { type: "number" },
    [
      "0.015",
      "-43.653225",
      "3.1415926535897931",
      "0.00001234567890123456",
      "0.0",
      "1e-7",
      "-2.5E+10",
      "9.99e299",
      "12",
    ],
    ["1e999", "01", "1.", ".5", "1e", "12e3", "0.123456789012345678", "31.4159265358979312", "+1", "--1"],
  ],
  [
    { type: "number", minimum: 0, maximum: 1 },
    ["0", "1", "1.000", "0.015", "0.12345678901234567", "0.00012", "0.9999999999999999"],
    ["1.01", "1.0000001", "1e-1", "-0.1", "-0", "0.123456789012345678", "2"],
  ],
  [
    { type: "number", exclusiveMinimum: 0 },
    ["0.001", "1", "1234567890123456.7"],
    ["0", "0.0", "-1", "12345678901234567.8"],
  ],
  [
    { type: "number", minimum: -12.5, maximum: -0.03 },
    ["-12.5", "-12.49", "-0.03", "-1"],
    ["-12.51", "-0.02", "0", "1"],
  ],
  // It is read as 1.
  [{ type: "number", exclusiveMaximum: 1 }, ["0.9999999999999999", "-7"], ["0.99999999999999999", "1"]],
  [{ type: "string", maxLength: 40 }, ['""', `"${"é".repeat(40)}"`, '"\\"\\n"'], [`"${"é".repeat(41)}"`, '"\n"']],
  [{ type: "string", minLength: 70 }, [`"${"x".repeat(70)}"`], [`"${"x".repeat(69)}"`]],
  [{ enum: [1, "a", { b: [null] }], type: ["string", "object"] }, ['"a"', '{"b": [null]}'], ["1"]],
  [{ oneOf: [{ type: "null" }, { type: "boolean" }] }, ["null", "true"], ["0"]],
  [
    { properties: { ab: { type: "integer" } }, additionalProperties: { type: "null" } },
    ['{"ab": 1, "a": null}', '{"abc": null}', "{}"],
    ['{"ab": null}', '{"ab": 1, "ab": null}', '{"\\u0061b": null}'],
  ],
  [
    {
      $ref: "#/$defs/list",
      $defs: {
        list: {
          anyOf: [{ type: "null" }, { type: "array", prefixItems: [{}, { $ref: "#/$defs/list" }], items: false }],
        },
      },
    },
    ["null", '[{"a": 1}, [true, null]]'],
    ["[1, 2]"],
  ],
  [
    {
      properties: {
        slash: { $ref: "#/$defs/a~1b" },
        tilde: { $ref: "#/$defs/a~0b" },
        both: { $ref: "#/$defs/~01" },
        percent: { $ref: "#/$defs/%25%20%C3%BC" },
        plain: { $ref: "#/$defs/%25 ü" },
        sibling: { $ref: "#/properties/slash" },
        item: { $ref: "#/$defs/list/anyOf/1" },
      },
      additionalProperties: false,
      $defs: {
        "a/b": { const: 1 },
        "a~b": { const: 2 },
        "~1": { const: 3 },
        "% ü": { const: 4 },
        list: { anyOf: [{ const: 5 }, { const: 6 }] },
      },
    },
    ['{"slash": 1, "tilde": 2, "both": 3, "percent": 4, "plain": 4, "sibling": 1, "item": 6}', "{}"],
    ['{"slash": 2}', '{"both": 1}', '{"item": 5}'],
  ],
  [{}, ['{"a": [1, null, {}]}', '"x"', "[]", "-1.5e7"], ["", "{1}", "[,]"]],
  [{ type: "object", properties: {}, required: [] }, ["{}", '{"a": {"a": 1}}'], ["[]"]],
  [true, ["null", "[[]]"], ["nul"]],
])("the schema %j takes %j and not %j", async (one, good, bad) => {
  for (const text of good) expect(await accepts(schema(one), text), text).toBe(true);
  for (const text of bad) expect(await accepts(schema(one), text), text).toBe(false);
});

test.each<[string, string[], string[]]>([
  ["^(a|bc)+?$", ["a", "bca"], ["", "b"]],
  ["\\d{2,3}-[^\\d\\s]", ["12-x", "123-é"], ["1-x", "12-3", "12- "]],
  ["[\\u{1f600}-\\u{1f64f}a]{1,2}", ["😀", "a😃"], ["b", "😀😀😀"]],
  ["(?:x(?<y>z)?)*", ["", "xzx"], ["z"]],
  ["[é-ü]", ["é", "ü"], ["e", "ý"]],
])("the expression %s takes %j and not %j", async (pattern, good, bad) => {
  for (const text of good) expect(await accepts(regex(pattern), text), text).toBe(true);
  for (const text of bad) expect(await accepts(regex(pattern), text), text).toBe(false);
});

test.each(["(", "a)", "[b-a]", "*", "a{3,2}", "a{2,99999}", "\\q", "(?:(?!a)b?){9}", "\\1", "a^b", "\\bword"])(
  "%s is refused as an expression",
  async (pattern) => {
    await expect(compiler.matchers(regex(pattern), [EOS], 1)).rejects.toMatchObject({
      name: "ChorusError",
      param: "regex",
    });
  },
);

test.each<[string, string[], string[]]>([
  ['root ::= "a" [a-zé]', ["aé", "az"], ["aü"]],
  ["root ::= [^\\x80]{2}", ["éa"], ["a"]],
  ['root ::= sum\nsum ::= sum "+" [0-9] | [0-9]', ["1", "1+2+3"], ["+1", "1+"]],
  ['root ::= (a | "") "]" # rest\na ::= "\\"" "\\u00e9"', ['"é]', "]"], ["é]"]],
  ['root ::= "a"{2,3} "b"{0,}', ["aa", "aaabb"], ["a"]],
])("the grammar %s takes %j and not %j", async (text, good, bad) => {
  for (const one of good) expect(await accepts(ebnf(text), one), one).toBe(true);
  for (const one of bad) expect(await accepts(ebnf(text), one), one).toBe(false);
});

test("texts and comments beyond ASCII are none of its concern", async () => {
  expect(await accepts(ebnf('root ::= "[é]" # [é]\n'), "[é]")).toBe(true);
});

test("a token that a grammar names is no part of a text, and its text is spelled by others", async () => {
  const vocabulary = [...BYTE_VOCABULARY, new TextEncoder().encode("<call>"), new Uint8Array()];
  const [CALL, SILENT] = [257, 258];
  const tokens = grammarCompiler(vocabulary);
  const source: GrammarSource = {
    kind: "ebnf",
    ebnf: `root ::= [^]* (<[${CALL}]> args <[${SILENT}]>)?`,
    schemas: [
      {
        name: "args",
        source: {
          kind: "schema",
          schema: { type: "object", properties: { a: { enum: [1] } }, required: ["a"], additionalProperties: false },
          param: "tools",
        },
      },
    ],
    param: "tools",
  };
  const takes = async (...ids: number[]) => {
    const [matcher] = await tokens.matchers(source, [EOS], 1);
    for (const id of ids) {
      await matcher?.prepareMask();
      if (allowedIds(matcher!.mask).includes(id) !== matcher?.accept(id)) throw new Error(`the mask lies about ${id}`);
    }
    await matcher?.prepareMask();
    return allowedIds(matcher!.mask);
  };
  expect(await takes(...byteTokens("hi <call>"))).toEqual(expect.arrayContaining([CALL, EOS, ...byteTokens("{")]));
  expect(await takes(...byteTokens("hi"))).not.toContain(0xf8); // a byte that no text has
  expect(await takes(...byteTokens("hi"), CALL)).toEqual(byteTokens("{"));
  expect(await takes(CALL, ...byteTokens('{"a": 1}'))).toEqual([SILENT]);
  expect(await takes(CALL, ...byteTokens('{"a": 1}'), SILENT)).toEqual([EOS]);
  await expect(
    accepts(ebnf(`root ::= ${Array.from({ length: 9 }, (_, id) => `<[${id}]>`).join(" ")}`), "a"),
  ).rejects.toThrow("too large");
  await expect(accepts(ebnf("root ::= <[999999]>"), "a")).rejects.toThrow("allows no text");
});
