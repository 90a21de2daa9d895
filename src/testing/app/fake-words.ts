import type { ChatCompletionRequest, TokenLogprob } from "../../protocol/openai.ts";
import type { AskedReport } from "../../protocol/reports.ts";

/** Returns the words, each with the space before it. */
export const wordsIn = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

/** The sum of a word's characters stands for its token. */
export const tokenIdsOf = (text: string): number[] =>
  wordsIn(text).map((word) => [...word].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0));

/** Each word was as likely as not; the rest is shared by others. */
export function logprobsOf(word: string): { content: TokenLogprob[] } {
  const others = [0.5, 0.2, 0.1, 0.05, 0.02].map((share, index) => {
    const token = index === 0 ? word : ` other${index}`;
    return { token, logprob: Math.log(share), bytes: [] };
  });
  return { content: [{ token: word, logprob: Math.log(0.5), bytes: [], top_logprobs: others }] };
}

export function askedBody(
  text: string,
  maxTokens: number,
  { seed }: Pick<ChatCompletionRequest, "seed">,
): AskedReport["body"] {
  return { prompt: tokenIdsOf(text), max_tokens: maxTokens, seed: seed ?? 0 };
}
