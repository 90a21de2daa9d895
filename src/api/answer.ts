// What streamed chunks and whole responses are made of alike.

import type { SequenceOutput } from "../engine/output.ts";
import type { CompletionLogprobs, TokenLogprob, TopLogprob, Usage } from "../protocol/openai.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** What a step adds to a choice. */
export type ChoiceOutput = Pick<
  SequenceOutput,
  "text" | "tokenIds" | "logprobs" | "topLogprobs" | "finishReason" | "stopReason" | "score"
>;

/** The tokens' side of log-probabilities. */
export interface TokenNames {
  tokenBytes(id: number): Uint8Array;
  tokenText(id: number): string;
}

/** The fields that are the same in every chunk of an answer. */
export interface AnswerHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** @param unique tells the answer apart from every other */
export function answerId(endpoint: ParsedRequest["endpoint"], unique: string): string {
  return `${endpoint === "completions" ? "cmpl" : "chatcmpl"}-${unique}`;
}

/** Choices of all the request's prompts. */
export function numChoices({ prompts, n }: ParsedRequest): number {
  return prompts.length * n;
}

/** Ids of the prompt that a choice of the request answers. */
export function promptTokenIds({ prompts, n }: ParsedRequest, choice: number): number[] {
  return [...(prompts[Math.floor(choice / n)]?.tokenIds ?? [])];
}

/** What a choice's text begins with before its tokens: the prompt's text, where the request asked for it. */
export function echoedText(request: ParsedRequest, choice: number, names: TokenNames): string {
  if (!request.echo) return "";
  const bytes = promptTokenIds(request, choice).flatMap((id) => {
    const own = names.tokenBytes(id);
    return own.length > 0 ? [...own] : [...new TextEncoder().encode(names.tokenText(id))]; // a control token, as it was written
  });
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

/** Whether the request asked for the most likely tokens beside those drawn. */
export function wantsTopLogprobs({ prompts }: ParsedRequest): boolean {
  return prompts.some(({ params }) => params.topLogprobs > 0);
}

/** A prompt counts once, however many choices it has. */
export function usageOf({ prompts }: ParsedRequest, completionTokens: number): Usage {
  const promptTokens = prompts.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

type Logprobs = Pick<ChoiceOutput, "tokenIds" | "logprobs" | "topLogprobs">;

/** chat.completions' shape. */
export function chatLogprobs({ tokenIds, logprobs, topLogprobs }: Logprobs, names: TokenNames): TokenLogprob[] {
  const named = (id: number, logprob: number): TopLogprob => ({
    token: names.tokenText(id),
    logprob,
    bytes: [...names.tokenBytes(id)],
  });
  return tokenIds.map((id, i) => ({
    ...named(id, logprobs[i] ?? 0),
    top_logprobs: (topLogprobs[i] ?? []).map(({ tokenId, logprob }) => named(tokenId, logprob)),
  }));
}

/**
 * completions' shape.
 * @param offset where in the choice's text the first of the tokens begins
 * @param wantTop whether any of the most likely tokens were asked for
 */
export function completionLogprobs(
  { tokenIds, logprobs, topLogprobs }: Logprobs,
  names: TokenNames,
  offset: number,
  wantTop: boolean,
): CompletionLogprobs {
  const tokens = tokenIds.map((id) => names.tokenText(id));
  const offsets = tokens.map((token) => (offset += token.length) - token.length);
  const top = tokenIds.map((id, i) => {
    const both = [...(topLogprobs[i] ?? []), { tokenId: id, logprob: logprobs[i] ?? 0 }];
    return Object.fromEntries(both.map(({ tokenId, logprob }) => [names.tokenText(tokenId), logprob]));
  });
  return { tokens, token_logprobs: [...logprobs], top_logprobs: wantTop ? top : null, text_offset: offsets };
}
