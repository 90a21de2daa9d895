import { readFileSync, readdirSync } from "node:fs";

import fc from "fast-check";
import { expect, test } from "vitest";

import { MAX_LEVELS, parseJson, refuseUnbounded } from "./bounded-data.ts";

const lists = (levels: number) => "[".repeat(levels) + "]".repeat(levels);
const deep = (levels: number): unknown => JSON.parse(lists(levels));

test("reads what JSON.parse reads", () => {
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseJson(text)).toEqual(JSON.parse(text));
    }),
  );
  for (const text of ["", '"', '"\\', '"a\\\\"', '["\\""]', "{", "]]", '{"[[":"{{"}']) {
    let expected: unknown = SyntaxError;
    try {
      expected = JSON.parse(text);
    } catch {
      expect(() => parseJson(text)).toThrow(SyntaxError);
      continue;
    }
    expect(parseJson(text)).toEqual(expected);
  }
});

test("counts levels, and keys, lists and objects, outside of strings, before it builds anything", () => {
  expect(parseJson(lists(MAX_LEVELS))).toEqual(deep(MAX_LEVELS));
  expect(() => parseJson(lists(MAX_LEVELS + 1))).toThrow("nested more than 128 levels deep");
  expect(() => parseJson("[".repeat(100_000))).toThrow("nested more than 128 levels deep");
  expect(parseJson(JSON.stringify("[".repeat(1000)))).toHaveLength(1000);
  expect(parseJson('[{"a":1},{"a":":"}]', 5)).toHaveLength(2);
  expect(() => parseJson('[{"a":1},{"a":1}]', 4)).toThrow("more than 4 keys, lists and objects");
  expect(() => parseJson("[[],[]]", 2)).toThrow("more than 2 keys, lists and objects");
});

test("names the field that is too deep, also one that holds itself", () => {
  const circular: unknown[] = [];
  circular.push(circular);
  expect(() => refuseUnbounded("A request", { prompt: "x", stop: deep(MAX_LEVELS - 1) })).not.toThrow();
  for (const stop of [deep(MAX_LEVELS), deep(100_000), circular, new Map([["a", deep(100_000)]]), new Set(circular)]) {
    const refused = expect.objectContaining({ code: "invalid_value", param: "stop" });
    expect(() => refuseUnbounded("A request", { prompt: "x", stop })).toThrow(refused);
  }
});

test("refuses what would never end being copied", () => {
  let doubled: unknown[] = [];
  for (let i = 0; i < 100; i++) doubled = [doubled, doubled];
  expect(() => refuseUnbounded("A request", { doubled })).toThrow("values and characters");
});

test("no source reads text of others with JSON.parse, which bounds nothing", () => {
  const allowed = [
    "api/json-copy.ts", // a copy of what was bounded
    "files/safetensors-header.ts", // hundreds of thousands of tensors, none of which may be nested
    "grammar/grammar-service.ts", // what another thread of the library has written
    "protocol/bounded-data.ts",
  ];
  const sources = readdirSync("src", { recursive: true, encoding: "utf8" })
    .map((path) => path.replaceAll("\\", "/"))
    .filter((path) => /\.tsx?$/.test(path) && !/\.test\.|^(testing|bench)\//.test(path));
  const reading = sources.filter((path) => /\bJSON\.parse\(/.test(readFileSync(`src/${path}`, "utf8")));
  expect(reading.toSorted()).toEqual(allowed);
});
