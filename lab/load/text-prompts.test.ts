import { expect, it } from "vitest";

import { TEXT_PROMPTS, textPrompts } from "./text-prompts.ts";

/** Its tokens are the characters' codes. */
const ENGINE = {
  tokenize: ({ prompt }: { prompt?: string | null }) => {
    const tokens = Array.from(prompt ?? "", (character) => character.charCodeAt(0));
    return Promise.resolve({ count: tokens.length, max_model_len: 512, tokens, token_strs: null });
  },
};

async function promptsFor(model: string, contextLength = 512, seed = 0) {
  const notes: string[] = [];
  const prompts = await textPrompts(ENGINE, {
    options: { model, outputTokens: 12, seed },
    model: { contextLength, vocabSize: 100 },
    note: (remark) => notes.push(remark),
  });
  return { prompts, notes };
}

it("there are ten texts, no two of one length", () => {
  expect(TEXT_PROMPTS).toHaveLength(10);
  expect(new Set(TEXT_PROMPTS.map(({ length }) => length)).size).toBe(10);
});

it("a model with words gets the texts in its tokens, cut where answer and text fill the context", async () => {
  const { prompts, notes } = await promptsFor("embedded");
  expect(prompts.map((ids) => String.fromCharCode(...ids))).toEqual(TEXT_PROMPTS);
  expect(notes).toEqual([]);
  const cut = (await promptsFor("embedded", 32)).prompts;
  expect(cut.map(({ length }) => length)).toEqual(TEXT_PROMPTS.map(() => 20));
});

it("a random model gets as many random ids as texts have tokens, always the same, and a note says so", async () => {
  const { prompts, notes } = await promptsFor("tiny");
  expect(prompts.map(({ length }) => length)).toEqual(TEXT_PROMPTS.map(({ length }) => Math.ceil(length / 4)));
  // All but the last, which ends texts.
  expect(prompts.flat().every((id) => id >= 0 && id < 99)).toBe(true);
  expect(notes).toHaveLength(1);
  expect((await promptsFor("tiny")).prompts).toEqual(prompts);
  expect((await promptsFor("tiny", 512, 1)).prompts).not.toEqual(prompts);
  expect((await promptsFor("tiny", 32)).prompts.map(({ length }) => length)).toEqual(
    prompts.map(({ length }) => Math.min(20, length)),
  );
});
