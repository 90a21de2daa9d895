// The common part of streamed chunks and whole responses.

import type { SequenceOutput } from "../engine/text/output.ts";
import type { Usage } from "../protocol/openai.ts";
import type { RequestMetrics } from "../protocol/request-metrics.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import type { TokenNames } from "./token-names.ts";

/** The output of one step for a choice. */
export type ChoiceOutput = Pick<
  SequenceOutput,
  | "text"
  | "reasoning"
  | "tokenIds"
  | "logprobs"
  | "topLogprobs"
  | "promptScores"
  | "cachedTokens"
  | "draftTokens"
  | "acceptedTokens"
  | "reasoningTokens"
  | "finishReason"
  | "stopReason"
  | "score"
> & {
  /** Figures of one of several choices that has ended, if requested. */
  readonly metrics?: RequestMetrics;
};

/** The fields that are the same in every chunk of an answer. */
export interface AnswerHead {
  readonly id: string;
  /** Unix seconds. */
  readonly created: number;
  readonly model: string;
}

/** @param unique part of the id that no other answer has */
export function answerId(endpoint: ParsedRequest["endpoint"], unique: string): string {
  return `${endpoint === "completions" ? "cmpl" : "chatcmpl"}-${unique}`;
}

/** Choices of all the request's prompts. */
export function numChoices({ prompts, n }: ParsedRequest): number {
  return prompts.length * n;
}

/** Returns the token ids of the prompt that a choice answers. */
export function promptTokenIds({ prompts, n }: ParsedRequest, choice: number): number[] {
  return [...(prompts[Math.floor(choice / n)]?.tokenIds ?? [])];
}

/** Returns the token ids of the prompt as the caller wrote it, without those that the tokenizer put around it. */
export function reportedPromptIds({ prompts, n }: ParsedRequest, choice: number): readonly number[] {
  const { tokenIds = [], added = { before: 0, after: 0 } } = prompts[Math.floor(choice / n)] ?? {};
  return tokenIds.slice(added.before, tokenIds.length - added.after);
}

/** Returns the text before a choice's own tokens: the prompt's, if the request wants an echo, else none. */
export function echoedText(request: ParsedRequest, choice: number, names: TokenNames): string {
  if (!request.echo) return "";
  const bytes = reportedPromptIds(request, choice).flatMap((id) => {
    const own = names.tokenBytes(id);
    return own.length > 0 ? [...own] : [...new TextEncoder().encode(names.tokenText(id))]; // a control token, by its name
  });
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(Uint8Array.from(bytes));
}

/** Returns the part of an output that the request wants. */
export function reportedOutput<Output extends ChoiceOutput>({ isPromptOnly }: ParsedRequest, output: Output): Output {
  if (!isPromptOnly) return output;
  const finishReason = output.finishReason === "stop" ? "length" : output.finishReason;
  const nothing = {
    text: "",
    reasoning: "",
    tokenIds: [],
    logprobs: [],
    topLogprobs: [],
    stopReason: null,
    score: null,
  };
  return { ...output, ...nothing, finishReason };
}

/** Counts the tokens of one answer. A prompt counts once, however many choices it has. */
export class UsageCounter {
  readonly #request: ParsedRequest;
  readonly #promptTokens: number;
  /** By prompt: what its first choice found in the prefix cache. */
  readonly #cachedTokens: number[];
  /** By choice: tokens that were drafted for it, and how many of them were accepted. */
  readonly #drafted: number[] = [];
  readonly #accepted: number[] = [];
  /** By choice. */
  readonly #reasoning: number[] = [];
  #completionTokens = 0;

  constructor(request: ParsedRequest) {
    this.#request = request;
    this.#promptTokens = request.prompts.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    this.#cachedTokens = request.prompts.map(() => 0);
  }

  add(choice: number, { tokenIds, cachedTokens, draftTokens, acceptedTokens, reasoningTokens }: ChoiceOutput): void {
    this.#completionTokens += tokenIds.length;
    this.#drafted[choice] = draftTokens;
    this.#accepted[choice] = acceptedTokens;
    this.#reasoning[choice] = reasoningTokens;
    const { n } = this.#request;
    if (choice % n === 0) this.#cachedTokens[choice / n] = cachedTokens;
  }

  usage(): Usage {
    const drafted = total(this.#drafted);
    const accepted = total(this.#accepted);
    const reasoning = total(this.#reasoning);
    const details = {
      ...(reasoning > 0 && { reasoning_tokens: reasoning }),
      ...(drafted > 0 && { accepted_prediction_tokens: accepted, rejected_prediction_tokens: drafted - accepted }),
    };
    return {
      prompt_tokens: this.#promptTokens,
      completion_tokens: this.#completionTokens,
      total_tokens: this.#promptTokens + this.#completionTokens,
      prompt_tokens_details: { cached_tokens: total(this.#cachedTokens) },
      ...(drafted + reasoning > 0 && { completion_tokens_details: details }),
    };
  }
}

function total(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0);
}
