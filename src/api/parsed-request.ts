import { checkAdmission, maxSequenceLength, type Limits } from "../engine/admission.ts";
import type { SamplingParams } from "../engine/sampling-params.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatFormat } from "./chat-format.ts";

/** What requests are parsed with: the model, as far as they meet it. */
export interface RequestContext {
  readonly modelName: string;
  /** Of the model's embedding. */
  readonly vocabSize: number;
  readonly tokenizer: { encode(text: string): number[] };
  readonly chatFormat: ChatFormat;
  /** What counts where a request doesn't say. */
  readonly defaults: Pick<SamplingParams, "temperature" | "topK" | "topP">;
  readonly limits: Limits;
  /** Seed of a prompt whose request gives none: an integer in 0 .. 2^53 - 1. */
  readonly nextSeed: () => number;
}

/** One prompt, which the engine is asked for `n` times. */
export interface ParsedPrompt {
  readonly tokenIds: readonly number[];
  readonly params: SamplingParams;
  /** The field it came from: "messages", "prompt", "prompt[2]". */
  readonly param: string;
}

/** A request with everything checked and decided. Choice i of prompt p is choice p * n + i of the request. */
export interface ParsedRequest {
  readonly endpoint: "chat.completions" | "completions";
  readonly prompts: readonly ParsedPrompt[];
  /** Choices of each prompt. */
  readonly n: number;
  readonly stream: boolean;
  /** Whether the stream ends with a chunk that holds the usage. */
  readonly includeUsage: boolean;
  readonly returnTokenIds: boolean;
  readonly wantLogprobs: boolean;
}

/** SamplingParams as far as the request decides them: what depends on the prompt is open. */
export type RequestedParams = Omit<SamplingParams, "seed" | "maxTokens"> & {
  /** undefined: one for each prompt, from nextSeed. */
  readonly seed: number | undefined;
};

/**
 * Checks that a prompt can run, and decides what depends on its length.
 *
 * @param maxTokens as asked; undefined: `defaultMaxTokens`, or less where that is more than is left of the context
 * @throws ChorusError invalid_value, context_length_exceeded, cache_capacity_exceeded
 */
export function preparePrompt(
  prompt: { readonly tokenIds: readonly number[]; readonly param: string },
  requested: RequestedParams,
  maxTokens: number | undefined,
  defaultMaxTokens: number,
  { limits, vocabSize, nextSeed }: RequestContext,
): ParsedPrompt {
  const { tokenIds, param } = prompt;
  const outside = tokenIds.find((id) => id >= vocabSize);
  if (outside !== undefined) {
    throw new ChorusError(
      "invalid_value",
      `${param} has token ${outside}; this model's end at ${vocabSize - 1}.`,
      param,
    );
  }
  const left = Math.max(1, maxSequenceLength(limits) - tokenIds.length);
  const params = {
    ...requested,
    seed: requested.seed ?? nextSeed(),
    maxTokens: maxTokens ?? Math.min(defaultMaxTokens, left),
  };
  checkAdmission(tokenIds.length, params.maxTokens, param, limits);
  return { tokenIds, param, params };
}
