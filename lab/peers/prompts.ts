// Prompts of one length in tokens, so that no engine has to pad.

import type { ModelTokenizer } from "../../src/files/tokenizer.ts";
import type { Prompt } from "./engine-page.ts";

/** A text for models that know English. */
const STORY =
  "Once upon a time a small fox lived near the river and every morning she went out to see who was awake. " +
  "The old heron stood in the water as he always did and said nothing, because he was waiting for a fish. " +
  "On the other side a boy was building a boat of paper and wood, and his sister told him that it would sink. " +
  "They talked about the rain, about the long road to the village, and about the bread that was still warm. " +
  "In the evening a light came on in the window, the wind grew cold, and everybody went home to eat and sleep.";

/**
 * Each begins at another word, and its text makes exactly these tokens.
 *
 * @param numTokens of each
 * @throws Error where no beginning of the text has that many
 */
export function makePrompts(tokenizer: ModelTokenizer, count: number, numTokens: number): Prompt[] {
  const words = STORY.split(" ");
  const prompts: Prompt[] = [];
  // Long prompts repeat the story.
  const repeated = Array.from({ length: 1 + Math.ceil(numTokens / words.length) }, () => words).flat();
  for (let first = 0; first < words.length && prompts.length < count; first += 3) {
    const prompt = cutToLength(tokenizer, repeated.slice(first).join(" "), numTokens);
    if (prompt) prompts.push(prompt);
  }
  if (prompts.length < count)
    throw new Error(`Of ${count} prompts of ${numTokens} tokens, ${prompts.length} were found.`);
  return prompts;
}

/** Returns null if the text is too short, or if its first tokens alone would be encoded differently. */
function cutToLength(tokenizer: ModelTokenizer, text: string, numTokens: number): Prompt | null {
  const ids = tokenizer.encode(text).slice(0, numTokens);
  const cut = Buffer.concat(ids.map((id) => tokenizer.tokenBytes(id))).toString();
  const again = tokenizer.encode(cut);
  return ids.length === numTokens && again.length === numTokens && again.every((id, i) => id === ids[i])
    ? { text: cut, ids }
    : null;
}
