// Signs in an output's text stand for tokens alone: what calls a model makes is read from them.

import { expect, test } from "vitest";

import { BYTE_VOCABULARY, byteTokens, EOS, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { Sequence } from "../sequence.ts";
import { OutputProcessor } from "./output.ts";
import { NO_REASONING, type ReasoningStart } from "./reasoning-splitter.ts";

const MARKER = 300;
const SIGN = "\ufdd0";

function write(
  ids: readonly number[],
  reasoning: ReasoningStart,
  signs: readonly (readonly [number, string])[] | null,
) {
  const params = samplingParams({ maxTokens: 100 });
  const sequence = new Sequence({ requestId: "r", index: 0, params, prompt: [1], arrivalMs: 0 });
  const tokenBytes = (id: number) =>
    id === MARKER ? new TextEncoder().encode("<call>") : (BYTE_VOCABULARY[id] ?? new Uint8Array());
  const processor = new OutputProcessor(
    sequence,
    { reasoning, signs },
    { tokenBytes, eosTokenIds: new Set([EOS]), maxLength: 200 },
  );
  let [text, thought] = ["", ""];
  for (const tokenId of ids) {
    sequence.append(tokenId);
    const output = processor.push({ tokenId, logprob: 0 });
    text += output.text;
    thought += output.reasoning;
  }
  return { text, thought };
}

test("no text writes a sign, and a token that has one is no text", () => {
  const ids = [...byteTokens(`a${SIGN}b`), MARKER, ...byteTokens("c")];
  expect(write(ids, NO_REASONING, [[MARKER, SIGN]]).text).toBe(`a\ufffdb${SIGN}c`);
  expect(write(ids, NO_REASONING, null).text).toBe(`a${SIGN}b<call>c`);
});

test("in a thought a marker is a text like others", () => {
  const ids = [...byteTokens("so "), MARKER, ...byteTokens("</think>"), MARKER, ...byteTokens(".")];
  const output = write(ids, { state: "open", written: "" }, [[MARKER, SIGN]]);
  expect(output).toEqual({ text: `${SIGN}.`, thought: "so <call>" });
});
