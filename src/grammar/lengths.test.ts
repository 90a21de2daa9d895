// Repetitions are written in pieces. Whoever reads the notation counts the right lengths, and xgrammar does where pieces begin
// and end.

import { expect, test } from "vitest";

import { allowedIds, grammarCompiler } from "../../tests/requests/grammars.ts";
import { toEbnf } from "./ebnf.ts";
import { repeat, sequence, text } from "./expression.ts";

const MOST = 130;
const BEGIN_OR_END = [0, 1, 8, 31, 32, 33, 40, 64, 65, 96, 128, 130];

const ebnfOf = (min: number, width: number) =>
  toEbnf(new Map([["root", sequence(repeat(text("a"), min, min + width), text("b"))]]));

/** Lengths as the bits of a number. */
const between = (min: number, width: number) => ((1n << BigInt(width + 1)) - 1n) << BigInt(min);

/** Reads the notation as its definition has it, without its last letter. */
function lengthsOf(ebnf: string): bigint {
  const bodies = new Map(ebnf.split("\n").map((line) => line.split(" ::= ") as [string, string]));
  const known = new Map<string, bigint>();
  const rule = (name: string): bigint => {
    const found = known.get(name) ?? choice(bodies.get(name)?.match(/"\w*"|\w+|[(){}|,?]/g) ?? []);
    known.set(name, found);
    return found;
  };
  const choice = (words: string[]): bigint => {
    let all = 0n;
    let one = 1n;
    while (words.length > 0 && words[0] !== ")") {
      const word = words.shift() ?? "";
      if (word === "|") [all, one] = [all | one, 1n];
      else one = joined(one, repeated(atom(word, words), words));
    }
    words.shift();
    return all | one;
  };
  const atom = (word: string, words: string[]) => {
    if (word === "(") return choice(words);
    return word.startsWith('"') ? (word === '"a"' ? 2n : 1n) : rule(word);
  };
  const repeated = (of: bigint, words: string[]) => {
    if (words[0] === "?") {
      words.shift();
      return of | 1n;
    }
    if (words[0] !== "{") return of;
    const [, min, , max] = words.splice(0, 5);
    let [all, power] = [0n, 1n];
    for (let count = 0; count <= Number(max); count++, power = joined(power, of))
      if (count >= Number(min)) all |= power;
    return all;
  };
  return rule("root");
}

/** Returns the lengths of texts that are made of one of each. */
function joined(a: bigint, b: bigint): bigint {
  if (a === 1n || b === 2n) return b === 2n ? a << 1n : b;
  let all = 0n;
  for (let length = 0n; a >> length > 0n; length++) if ((a >> length) & 1n) all |= b << length;
  return all;
}

test("all lengths from 0 to 130 and widths from 0 to 130 are written right, and none as nothing at all", () => {
  for (let min = 0; min <= MOST; min++) {
    for (let width = 0; width <= MOST; width++) {
      const ebnf = ebnfOf(min, width);
      if (lengthsOf(ebnf) !== between(min, width)) expect.fail(`${min} to ${min + width} is written ${ebnf}`);
      expect(ebnf.includes("{0,0}")).toBe(false); // xgrammar misreads it beside other repetitions
    }
  }
});

test.each(BEGIN_OR_END)("xgrammar takes no other lengths from %i on", async (min) => {
  const letters = new TextEncoder();
  const texts = ["a", ...Array.from({ length: 2 * MOST + 2 }, (_, length) => `${"a".repeat(length)}b`), ""];
  const compiler = grammarCompiler(texts.map((one) => letters.encode(one)));
  for (const width of BEGIN_OR_END) {
    const source = { kind: "ebnf", ebnf: ebnfOf(min, width), param: "x" } as const;
    const [matcher] = await compiler.matchers(source, [texts.length - 1], 1);
    const taken = allowedIds(matcher?.mask ?? new Uint32Array()).filter((id) => id > 0);
    matcher?.dispose();
    expect(taken).toEqual(Array.from({ length: width + 1 }, (_, i) => 1 + min + i));
  }
});
