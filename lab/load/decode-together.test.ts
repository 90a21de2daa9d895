import { expect, it } from "vitest";
import type { ChorusEngine } from "../../src/protocol/engine.ts";
import { countsThatFit, decodeTogether } from "./decode-together.ts";

/** Steps of 64 rows, as on the CPU, and a context of 512 tokens. */
function engine(requested: number[] = []): ChorusEngine {
  const create = ({ max_tokens }: { max_tokens: number }) => Promise.resolve(requested.push(max_tokens));
  return {
    config: { maxNumBatchedTokens: 64 },
    model: { contextLength: 512 },
    on: () => () => undefined,
    completions: { create },
  } as unknown as ChorusEngine;
}
const counts = [1, 4, 16, 64];

it("leaves out counts whose answers don't fit into the context until all decode, and says so", () => {
  expect(countsThatFit(engine(), counts, 32, 32)).toEqual({ counts, notes: [] });
  for (const promptTokens of [112, 128]) {
    expect(countsThatFit(engine(), counts, promptTokens, 32)).toEqual({
      counts: [1, 4, 16],
      notes: [expect.stringMatching(/^64 at once are left out: /)],
    });
  }
});

it("a sequence alone fits always: nobody's prompt is computed after its own", () => {
  expect(countsThatFit(engine(), [1, 2], 480, 32)).toMatchObject({ counts: [1] });
  expect(countsThatFit(engine(), [64], 128, 32)).toMatchObject({ counts: [1], notes: [expect.any(String)] });
});

it("asks for no more tokens than the context has", async () => {
  for (const promptTokens of [32, 112, 128, 480]) {
    for (const count of countsThatFit(engine(), counts, promptTokens, 32).counts) {
      const requested: number[] = [];
      const prompts = Array.from({ length: count }, () => Array.from({ length: promptTokens }, () => 1));
      // oxlint-disable-next-line no-await-in-loop -- it is a stub's
      await decodeTogether(engine(requested), prompts, 32, new AbortController().signal);
      expect(requested).toHaveLength(1);
      expect(promptTokens + requested[0]!).toBeLessThanOrEqual(512);
    }
  }
});
