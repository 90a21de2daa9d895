// What patterns and formats take: strings that match, and no others.

import { expect, test } from "vitest";

import { rulesOf } from "./grammar-source.ts";
import { jsonText } from "./json-text.ts";
import { Machine } from "./machine.ts";
import { Program } from "./program.ts";

function machineOf(schema: unknown): Machine {
  return new Machine(new Program(rulesOf({ kind: "schema", schema, param: "schema" }).rules));
}

test.each<[what: string, schema: unknown, valid: unknown[], invalid: unknown[]]>([
  [
    "a pattern that looks ahead in its middle",
    { pattern: "^P(?!$)(\\dY)?(T(?=\\d)(\\dH)?(?!0M)(\\dM)?)?$" },
    ["P1Y", "PT2H", "P1YT2H3M"],
    ["P", "PT", "P1YT", "PT0M", "PT1H0M"],
  ],
  [
    "a pattern that looks ahead to what may be anywhere",
    { pattern: "a(?!b|c$)" },
    ["a", "ad", "acd", "abad"],
    ["ab", "ac", "b", "abac"],
  ],
  ["not of a pattern that looks ahead", { type: "string", not: { pattern: "^(?!a)" } }, ["a", "ab"], ["", "b"]],
  [
    "anchors in groups",
    { pattern: "^$|(^a(b|c$))|(?:^\\d{2}$|x$)" },
    ["", "abz", "ac", "12", "yx"],
    ["acz", "123", "xy", "zab"],
  ],
  ["Unicode's properties", { pattern: "^\\p{Lu}[\\P{L}\\p{Script=Greek}]*$" }, ["É", "A1α", "Ωβ"], ["é", "Aa", "1"]],
])("%s: %j", (_, schema, valid, invalid) => {
  const machine = machineOf(schema);
  for (const value of valid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(true);
  for (const value of invalid) expect(machine.accepts(jsonText(value)), jsonText(value)).toBe(false);
});

test.each<[format: string, valid: string[], invalid: string[]]>([
  ["date", ["2000-02-29", "2024-02-29"], ["1900-02-29", "2023-13-01"]],
  [
    "date-time",
    ["2022-01-01T12:00:00.000Z", "2022-01-01t12:00:00+01:00", "1998-12-31T23:59:60.5Z"],
    ["1998-12-31T22:59:60Z", "2022-01-01 12:00:00Z", "2022-01-01T12:00:00"],
  ],
  ["email", ["John.Doe+x@Example.co.uk"], ["a@", ".a@b.c", "a b@c.d"]],
  ["hostname", ["a-b.example", "localhost"], ["-a.b", "a..b"]],
  ["ipv6", ["::1", "2001:db8::ff00:42:8329", "::ffff:1.2.3.4"], ["1::2::3", "12345::", ":1"]],
  ["uri", ["https://a.b/c?d=e#f", "urn:isbn:0", "mailto:a@b.c"], ["a/b", "http://a b", "//a.b"]],
  ["uri-reference", ["a/b", "#f", "//a.b", ""], ["a b"]],
  ["uuid", ["123E4567-e89b-12d3-a456-426614174000"], ["123e4567"]],
  ["duration", ["P1Y2M3DT4H5M6S", "P2W", "PT5M"], ["P", "P1S", "PT"]],
  ["uri", ["http://[v1.a:b]/"], ["http://[v1]/"]],
  ["iri", ["https://é.b/ü?\ue000#ö"], ["é/b", "http://a/\ue000"]],
  ["iri-reference", ["é/ü", "#ö", ""], ["a b"]],
  ["uri-template", ["http://a/{b:3}{?c*,d.e}/é", ""], ["{a", "a b", "{a:0}", "{}", "a}"]],
  ["json-pointer", ["", "/a~0b/0"], ["a", "/~2"]],
])("the format %s takes %j and not %j", (format, valid, invalid) => {
  const machine = machineOf({ type: "string", format });
  for (const value of valid) expect(machine.accepts(jsonText(value)), value).toBe(true);
  for (const value of invalid) expect(machine.accepts(jsonText(value)), value).toBe(false);
});

test.each(["a(?=^b)", "(?:a|(?=b))*c", "(a^)b", "x(?!(^b))"])("the pattern %s is refused", (pattern) => {
  expect(() => machineOf({ type: "string", pattern })).toThrow("schema.pattern has ");
});
