import type { SequenceOutput } from "../engine/text/output.ts";
import type { Usage } from "../protocol/openai.ts";
import type { RequestMetrics } from "../protocol/request-metrics.ts";
import type { Chunk } from "../protocol/service.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { textOf, type TokenNames } from "./token-names.ts";

/** The output of one step for a choice. */
export type ChoiceOutput = Omit<SequenceOutput, "requestId" | "index" | "error"> & {
  /** Figures of one of several choices that has ended, if requested. */
  readonly metrics?: RequestMetrics;
};

/** The fields that are the same in every chunk of an answer. */
export type AnswerHead = Readonly<Pick<Chunk, "id" | "created" | "model">>;

/** @param unique part of the id that no other answer has */
export function answerId(endpoint: ParsedRequest["endpoint"], unique: string): string {
  return `${endpoint === "completions" ? "cmpl" : "chatcmpl"}-${unique}`;
}

export function numChoices({ prompts, n }: ParsedRequest): number {
  return prompts.length * n;
}

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
  return request.echo ? textOf(reportedPromptIds(request, choice), names) : "";
}

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
  /** The last output of each choice, whose counts are of all its steps. */
  readonly #last: ChoiceOutput[] = [];
  #completionTokens = 0;

  constructor(request: ParsedRequest) {
    this.#request = request;
  }

  add(choice: number, output: ChoiceOutput): void {
    this.#completionTokens += output.tokenIds.length;
    this.#last[choice] = output;
  }

  usage(): Usage {
    const { prompts, n } = this.#request;
    const total = (count: (output: ChoiceOutput, choice: number) => number) =>
      this.#last.reduce((sum, output, choice) => sum + count(output, choice), 0);
    const promptTokens = prompts.reduce((sum, { tokenIds }) => sum + tokenIds.length, 0);
    const drafted = total(({ draftTokens }) => draftTokens);
    const accepted = total(({ acceptedTokens }) => acceptedTokens);
    const reasoning = total(({ reasoningTokens }) => reasoningTokens);
    const details = {
      ...(reasoning > 0 && { reasoning_tokens: reasoning }),
      ...(drafted > 0 && { accepted_prediction_tokens: accepted, rejected_prediction_tokens: drafted - accepted }),
    };
    return {
      prompt_tokens: promptTokens,
      completion_tokens: this.#completionTokens,
      total_tokens: promptTokens + this.#completionTokens,
      // What the first choice of each prompt found in the prefix cache.
      prompt_tokens_details: { cached_tokens: total(({ cachedTokens }, i) => (i % n === 0 ? cachedTokens : 0)) },
      ...(drafted + reasoning > 0 && { completion_tokens_details: details }),
    };
  }
}
