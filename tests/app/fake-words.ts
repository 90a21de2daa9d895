import type { ChatCompletionRequest, TokenLogprob } from "../../src/protocol/openai.ts";
import type { AskedReport } from "../../src/protocol/reports.ts";

/** Returns the words, each with the space before it. */
export const wordsIn = (text: string): string[] => text.match(/\s*\S+/g) ?? [];

/** The sum of a word's characters stands for its token. */
export const tokenIdsOf = (text: string): number[] =>
  wordsIn(text).map((word) => [...word].reduce((sum, character) => sum + (character.codePointAt(0) ?? 0), 0));

/** Each word was as likely as not; the rest is shared by others. */
const SHARES = [0.5, 0.2, 0.1, 0.05, 0.02];

/** @param numTop of the likeliest words, its own the first. Who asks for ids gets "token_id:0" and so on, in their order */
export function logprobsOf(word: string, numTop: number, isById: boolean): { content: TokenLogprob[] } {
  const named = (text: string, share: number, id: number) => ({
    token: isById ? `token_id:${id}` : text,
    logprob: Math.log(share),
    bytes: [...new TextEncoder().encode(text)],
  });
  const top = SHARES.map((share, id) => named(id === 0 ? word : ` other${id}`, share, id));
  return { content: [{ ...named(word, 0.5, 0), top_logprobs: top.slice(0, numTop) }] };
}

export function askedBody(
  text: string,
  maxTokens: number,
  { seed }: Pick<ChatCompletionRequest, "seed">,
): AskedReport["body"] {
  return { prompt: tokenIdsOf(text), max_tokens: maxTokens, seed: seed ?? 0 };
}
