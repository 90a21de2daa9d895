// Repetitions count right, however long they are and whatever they repeat.

import { expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS } from "../../tests/fakes/engine-harness.ts";
import { grammarCompiler } from "../../tests/requests/grammars.ts";

const compiler = grammarCompiler(BYTE_VOCABULARY);

/** Returns up to which length, and from which, a text of one letter is complete. */
async function lengthsOf(pattern: string, most: number): Promise<number[]> {
  const [matcher] = await compiler.matchers({ kind: "regex", pattern, param: "regex" }, [EOS], 1);
  const found = [];
  for (let length = 0; length <= most; length++) {
    await matcher?.prepareMask();
    if (((matcher?.mask[EOS >>> 5] ?? 0) >>> (EOS & 31)) & 1) found.push(length);
    if (!byteTokens("a").every((id) => matcher?.accept(id))) break;
  }
  return found;
}

const range = (first: number, last: number, step = 1) =>
  Array.from({ length: (last - first) / step + 1 }, (_, i) => first + i * step);

test.each<[string, number[]]>([
  ["a{0,0}", [0]],
  ...[1, 31, 32, 33, 64, 127, 128, 129, 200, 2000].map((n): [string, number[]] => [`a{1,${n}}`, range(1, n)]),
  ["a{8,72}", range(8, 72)],
  ["a{129}", [129]],
  ["a{129,}", range(129, 140)],
  ["(a{2}){0,32}", range(0, 64, 2)],
  ["(aa|a){3,40}", range(3, 80)],
  ["(a?){3,5}", range(0, 5)],
  ["(a*)*", range(0, 140)],
  ["(a{2,3}){2}", range(4, 6)],
  ["((a|aa)?){0,3}", range(0, 6)],
])("%s has the lengths %j", async (pattern, lengths) => {
  expect(await lengthsOf(pattern, Math.max(140, lengths.at(-1) ?? 0))).toEqual(lengths);
});
