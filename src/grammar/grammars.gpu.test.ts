// Grammars that explode, in real workers. (They need no GPU, but a browser.)

import { expect, test } from "vitest";

import { browserPlatform } from "../host/platforms/browser.ts";
import { ownThreads } from "../../tests/own-threads.ts";
import type { GrammarSource } from "./grammar-source.ts";
import { Grammars } from "./grammars.ts";

const VOCABULARY = Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte));
const END = 256;

const regex = (pattern: string): GrammarSource => ({ kind: "regex", pattern, param: "structured_outputs.regex" });
const properties = Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`property${i}`, { type: "string" }]));

test("a bomb costs its own request, and nobody waits for it", async () => {
  const grammars = new Grammars(
    () => ({ vocabSize: 257, tokens: VOCABULARY }),
    browserPlatform({ gpu: undefined, threads: ownThreads() }).openGrammarThread,
  );
  const [running] = await grammars.matchers(regex("[ab]*"), [END], 1);
  const bombs: GrammarSource[] = [
    regex("(a?b?c?d?e?){400}"),
    regex(`(${"(x?y?)".repeat(40)}){60}`),
    { kind: "schema", schema: { type: "object", properties }, param: "response_format" },
  ];
  const outcomes = bombs.map(async (bomb) => {
    try {
      const [made] = await grammars.matchers(bomb, [END], 1);
      made?.dispose();
      return null;
    } catch (error) {
      return error;
    }
  });
  // Meanwhile the running one goes on.
  for (let i = 0; i < 50; i++) {
    expect(running?.accept(0x61)).toBe(true);
    expect(await running?.prepareMask()).toBe(true);
  }
  for (const error of await Promise.all(outcomes)) {
    if (error !== null) expect(error).toMatchObject({ code: "invalid_value" });
  }
  expect(await running?.prepareMask()).toBe(true);
  expect((await grammars.matchers(regex("ab"), [END], 1)).length).toBe(1);
  grammars.dispose();
});
