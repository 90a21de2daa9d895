// A machine keeps a bounded number of positions, and a text of any length goes on.

import { expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS } from "../../tests/fakes/engine-harness.ts";
import { allowedIds } from "../../tests/requests/grammars.ts";
import { rulesOf } from "./grammar-source.ts";
import { MachineMatcher } from "./machine-matcher.ts";
import { Machine } from "./machine.ts";
import { Program } from "./program.ts";
import { TokenTrie } from "./token-trie.ts";

const MAX_POSITIONS = 50;
const trie = new TokenTrie(
  BYTE_VOCABULARY.map((bytes) => String.fromCharCode(...bytes)),
  BYTE_VOCABULARY.length,
);

function machineOf(pattern: string): Machine {
  return new Machine(new Program(rulesOf({ kind: "regex", pattern, param: "regex" }).rules), MAX_POSITIONS);
}

/** Lets each matcher take the text's tokens, in turn. */
async function write(text: string, ...matchers: readonly MachineMatcher[]): Promise<void> {
  for (const id of byteTokens(text)) {
    for (const matcher of matchers) {
      expect(matcher.makeMask()).toBe(true);
      expect(matcher.accept(id)).toBe(true);
    }
  }
}

test("a text that is longer than what a machine keeps goes on where it is", async () => {
  const machine = machineOf("(?:ab(?:c)?){1,1000}");
  const matchers = [new MachineMatcher(machine, trie, [EOS]), new MachineMatcher(machine, trie, [EOS])];
  await write("ab".repeat(999), ...matchers);
  expect(machine.numForgotten).toBeLessThanOrEqual((2 * 2000) / MAX_POSITIONS);
  await write("abc", ...matchers);
  for (const matcher of matchers) {
    expect(matcher.makeMask()).toBe(true);
    expect(allowedIds(matcher.mask)).toEqual([EOS]);
  }
});

test("a token is accepted without forgetting anything", async () => {
  const machine = machineOf("a{1,1000}");
  const matcher = new MachineMatcher(machine, trie, [EOS]);
  for (const id of byteTokens("a".repeat(900))) expect(matcher.accept(id)).toBe(true);
  expect(machine.numForgotten).toBe(0);
  await write("a".repeat(100), matcher);
  matcher.makeMask();
  expect(allowedIds(matcher.mask)).toEqual([EOS]);
});

test("a position that was forgotten holds no others", async () => {
  const machine = machineOf("a{1,1000}");
  const first = machine.start();
  await write("a".repeat(2 * MAX_POSITIONS), new MachineMatcher(machine, trie, [EOS]));
  expect(machine.numForgotten).toBeGreaterThan(0);
  expect([first.next, first.mask]).toEqual([[], null]);
});

test("a machine keeps its masks whatever another one computes", async () => {
  const machine = machineOf("yes");
  const first = machine.start();
  new MachineMatcher(machine, trie, [EOS]).makeMask();
  await write("a".repeat(1100), new MachineMatcher(machineOf("a{1,2000}"), trie, [EOS]));
  expect(first.mask).not.toBeNull();
});
