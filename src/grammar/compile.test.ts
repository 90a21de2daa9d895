// A grammar that is too much is refused with a reason, and never by an error of the engine's own.

import { expect, test } from "vitest";

import { Automaton } from "./automaton.ts";
import { compile, schemaProblem } from "./compile.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { parsePattern } from "./regex.ts";
import { withinSteps } from "./work.ts";

const many = (count: number, one: (i: number) => unknown) => Array.from({ length: count }, (_, i) => one(i));
const lengths = (first: number) => ({ anyOf: many(32, (i) => ({ type: "string", minLength: first + i })) });
const chain = (count: number, next: (ref: unknown) => unknown) => ({
  $defs: Object.fromEntries(
    many(count, (i) => [`a${i}`, next({ $ref: `#/$defs/a${i + 1}` })])
      .map((entry) => entry as [string, unknown])
      .concat([[`a${count}`, { type: "null" }]]),
  ),
  $ref: "#/$defs/a0",
});

test.each<[string, unknown]>([
  ["an enum of one value many times", { enum: many(30_000, () => 1) }],
  ["many cases", { allOf: [lengths(1), lengths(101), lengths(201)] }],
  [
    "patterns that must be told apart",
    { oneOf: [{ required: ["a"] }, { patternProperties: { "^(a|b)*a(a|b){15}$": { type: "null" } } }] },
  ],
  ["a long chain of properties", chain(1500, (ref) => ({ properties: { x: ref } }))],
  ["a long chain of references", chain(3000, (ref) => ref)],
])("%s: a request is refused, and the settings say why", (_name, schema) => {
  expect(schemaProblem(schema)).toMatch(
    /too large or too ambiguous|nested less deeply|is not supported|must be simpler/,
  );
});

test("an expression of one letter many times is refused", () => {
  const source: GrammarSource = { kind: "regex", pattern: many(30_000, () => "a").join("|"), param: "regex" };
  expect(() => compile(source)).toThrow("regex is too large or too ambiguous; make it smaller or simpler.");
});

test("what is refused takes few steps, and all that is refused in one schema not many more", () => {
  const fine = (i: number) => ({ type: "number", multipleOf: 0.000997, minimum: i });
  const problem = withinSteps(400_000, () => schemaProblem(fine(0)));
  expect(problem).toContain("schema.multipleOf is not supported: ");
  const allOf = many(60, (i) => ({ properties: { [`a${i}`]: { oneOf: [lengths(1), lengths(101), fine(i)] } } }));
  expect(withinSteps(2_500_000, () => schemaProblem({ allOf }))).not.toBeNull();
});

test("schemas that refer to the next one twice take a step for each", () => {
  const schema = chain(40, (ref) => ({ allOf: [ref, { ...(ref as object) }] }));
  expect(compile({ kind: "schema", schema, param: "schema" }).machine.accepts("null")).toBe(true);
});

test("schemas that contain each other have the cases of both, whichever is asked first", () => {
  const $defs = {
    a: { anyOf: [{ const: 1 }, { $ref: "#/$defs/b" }] },
    b: { anyOf: [{ const: 2 }, { $ref: "#/$defs/a" }] },
  };
  for (const first of ["a", "b"]) {
    const schema = { $defs, items: { $ref: `#/$defs/${first}` }, prefixItems: [{ $ref: "#/$defs/b" }] };
    const { machine } = compile({ kind: "schema", schema: { ...schema, type: "array" }, param: "schema" });
    for (const text of ["[1, 1]", "[1, 2]", "[2, 1]", "[2, 2]"]) expect(machine.accepts(text)).toBe(true);
  }
});

test("repeating what reads nothing takes no steps", () => {
  const languageOfPattern = (pattern: string) => Automaton.of(parsePattern(pattern, "pattern"));
  expect(languageOfPattern("^(?:(?:(?:){10000}){10000}){10000}$").has("")).toBe(true);
  expect(languageOfPattern("^(?:(?:){0,10000}){1,10000}$").has("a")).toBe(false);
});
