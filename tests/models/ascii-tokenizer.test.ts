import { expect, it } from "vitest";

import { asciiTokenizer } from "./ascii-tokenizer.ts";

it.each([512, 151_936])("has %d tokens, each of them once", (vocabSize) => {
  const { model, added_tokens: added } = asciiTokenizer(vocabSize) as {
    model: { vocab: Record<string, number> };
    added_tokens: { id: number }[];
  };
  expect(Object.values(model.vocab).toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: vocabSize }, (_, id) => id),
  );
  expect(added[0]?.id).toBe(vocabSize - 1);
});
