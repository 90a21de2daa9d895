import type { ChatCompletionRequest } from "../../protocol/openai.ts";
import type { AskedReport } from "../../protocol/reports.ts";

/** Returns the words, each with the space before it. */
export const wordsIn = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

/** The sum of a word's characters stands for its token. */
export const tokenIdsOf = (text: string): number[] =>
  wordsIn(text).map((word) => [...word].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0));

export function askedBody(
  text: string,
  maxTokens: number,
  { seed }: Pick<ChatCompletionRequest, "seed">,
): AskedReport["body"] {
  return { prompt: tokenIdsOf(text), max_tokens: maxTokens, seed: seed ?? 0 };
}
