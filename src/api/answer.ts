// What streamed chunks and whole responses are made of alike.

import type { SequenceOutput } from "../engine/output.ts";
import type { CompletionLogprobs, TokenLogprob, Usage } from "../protocol/openai.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** What a step adds to a choice. */
export type ChoiceOutput = Pick<SequenceOutput, "text" | "tokenIds" | "logprobs" | "finishReason" | "stopReason">;

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

/** A prompt counts once, however many choices it has. */
export function usageOf({ prompts }: ParsedRequest, completionTokens: number): Usage {
  const promptTokens = prompts.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
  };
}

/** chat.completions' shape. */
export function chatLogprobs(
  { tokenIds, logprobs }: Pick<ChoiceOutput, "tokenIds" | "logprobs">,
  names: TokenNames,
): TokenLogprob[] {
  return tokenIds.map((id, i) => ({
    token: names.tokenText(id),
    logprob: logprobs[i] ?? 0,
    bytes: [...names.tokenBytes(id)],
    top_logprobs: [],
  }));
}

/** completions' shape. @param offset where in the choice's text the first of the tokens begins */
export function completionLogprobs(
  { tokenIds, logprobs }: Pick<ChoiceOutput, "tokenIds" | "logprobs">,
  names: TokenNames,
  offset: number,
): CompletionLogprobs {
  const tokens = tokenIds.map((id) => names.tokenText(id));
  const offsets = tokens.map((token) => (offset += token.length) - token.length);
  return { tokens, token_logprobs: [...logprobs], top_logprobs: null, text_offset: offsets };
}
