import { expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS } from "../../../tests/fakes/engine-harness.ts";
import { allowedIds, grammarCompiler } from "../../../tests/requests/grammars.ts";
import { ThoughtMatcher, thoughtTokens } from "./thought-matcher.ts";

// Bytes, end-of-text, and tokens that close a thought or go on behind it.
const LONGER = ["</think>", "</think>\n", "nk>", "nk>{", "k>\n\n", "><", "a>b", "x></think>"];
const VOCABULARY = [...BYTE_VOCABULARY, ...LONGER.map((text) => new TextEncoder().encode(text))];
const idOf = (text: string) => BYTE_VOCABULARY.length + LONGER.indexOf(text);
const compiler = grammarCompiler(VOCABULARY);
const tokens = thoughtTokens(VOCABULARY.length, (id) => VOCABULARY[id] ?? new Uint8Array());

/** @param written what the prompt has of the thought */
async function open(written = ""): Promise<ThoughtMatcher> {
  const source = { kind: "regex", pattern: "ab", param: "regex" } as const;
  const [grammar] = await compiler.matchers(source, [EOS], 1);
  return new ThoughtMatcher(grammar!, tokens, { state: "open", written });
}

/** The forbidden tokens. */
function forbidden(matcher: ThoughtMatcher): string[] {
  const allowed = allowedIds(matcher.mask);
  const all = VOCABULARY.map((bytes, id) => (id === EOS ? "end" : new TextDecoder().decode(bytes)));
  return all.filter((_, id) => !allowed.includes(id));
}

test("in the thought all may come but its end with something behind it, and the end of the answer", async () => {
  const matcher = await open();
  expect(forbidden(matcher)).toEqual(["end", "</think>\n"]);
  for (const id of byteTokens("a</thi")) {
    expect(matcher.accept(id)).toBe(true);
    expect(await matcher.prepareMask()).toBe(true);
  }
  expect(forbidden(matcher)).toEqual(["end", "</think>\n", "nk>{"]);
  expect(matcher.accept(EOS)).toBe(false);
  expect(matcher.accept(idOf("nk>{"))).toBe(false);
});

test.each([["</think>"], ["x></think>"], [..."</thi", "nk>"], ["a>b", "<", ..."</think>"]])(
  "the grammar holds from the token after the thought: %j",
  async (...thought) => {
    const matcher = await open();
    for (const text of thought) {
      expect(matcher.accept(text.length > 1 ? idOf(text) : byteTokens(text)[0]!)).toBe(true);
      expect(await matcher.prepareMask()).toBe(true);
    }
    expect(allowedIds(matcher.mask)).toEqual(byteTokens("a"));
    for (const id of byteTokens("ab")) {
      expect(matcher.accept(id)).toBe(true);
      await matcher.prepareMask();
    }
    expect(allowedIds(matcher.mask)).toEqual([EOS]);
  },
);

test.each(Array.from("</think>", (_, cut) => ["Hm.</think>".slice(0, 3 + cut), "</think>".slice(cut)] as const))(
  "a prompt that ends after %j leaves %j of the tag: the grammar holds from the token after it",
  async (written, rest) => {
    const matcher = await open(written);
    if (written === "Hm.</thi") expect(forbidden(matcher)).toEqual(["end", "</think>\n", "nk>{"]);
    for (const id of byteTokens(rest)) {
      expect(matcher.accept(id)).toBe(true);
      expect(await matcher.prepareMask()).toBe(true);
    }
    expect(allowedIds(matcher.mask)).toEqual(byteTokens("a"));
  },
);
