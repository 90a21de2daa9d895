import { checkAdmission, maxSequenceLength, type Limits } from "../engine/scheduling/admission.ts";
import type { ReasoningStart } from "./reasoning-splitter.ts";
import type { BeamSearchParams, SamplingParams } from "../engine/sampling/sampling-params.ts";
import type { GrammarSource } from "../grammar/ebnf-of.ts";
import { ChorusError } from "../protocol/errors.ts";
import type { ChatFormat } from "./chat-format.ts";

/** What a model's makers say of how to sample from it. */
type SamplingDefaults = Pick<
  SamplingParams,
  "temperature" | "topK" | "topP" | "minP" | "typicalP" | "repetitionPenalty" | "noRepeatNgramSize"
>;

/** What requests are parsed with: the model, as far as they meet it. */
export interface RequestContext {
  readonly modelName: string;
  /** Of the model's embedding. */
  readonly vocabSize: number;
  readonly tokenizer: { encode(text: string): number[] };
  readonly chatFormat: ChatFormat;
  /** What counts where a request doesn't say. */
  readonly defaults: SamplingDefaults;
  /** Tokens that end a text. */
  readonly eosTokenIds: readonly number[];
  readonly limits: Limits;
  /** Seed of a prompt whose request gives none: an integer in 0 .. 2^53 - 1. */
  readonly nextSeed: () => number;
}

export interface EncodedPrompt {
  readonly tokenIds: readonly number[];
  /** The field it came from: "messages", "prompt", "prompt[2]". */
  readonly param: string;
}

/** One prompt, which the engine is asked for `n` times. */
interface ParsedPrompt extends EncodedPrompt {
  readonly params: SamplingParams;
}

/** A request with everything checked and decided. Choice i of prompt p is choice p * n + i of the request. */
export interface ParsedRequest {
  readonly endpoint: "chat.completions" | "completions";
  readonly prompts: readonly ParsedPrompt[];
  /** Choices of each prompt. */
  readonly n: number;
  /** null: each choice is drawn by itself. */
  readonly beamSearch: BeamSearchParams | null;
  /** What each choice must be; null: anything. */
  readonly structure: GrammarSource | null;
  readonly stream: boolean;
  /** Whether the stream ends with a chunk that holds the usage. */
  readonly includeUsage: boolean;
  readonly returnTokenIds: boolean;
  readonly wantLogprobs: boolean;
  /** Where the answers' reasoning is. */
  readonly reasoning: ReasoningStart;
  /** How many of the most likely tokens are told in the place of each of the prompt's, beside its own; null: not even that. */
  readonly promptLogprobs: number | null;
  /** Whether each choice's text begins with the prompt's. */
  readonly echo: boolean;
  /** Whether that is all of it: the prompt is scored, and what is drawn after it is not told. */
  readonly isPromptOnly: boolean;
  /** Lower is served earlier. */
  readonly priority: number;
  /** Part of the answer's id; null: a random one. */
  readonly requestId: string | null;
  /** Cached prefixes are shared with requests of the same salt only. */
  readonly cacheSalt: string | null;
  /** Longest time from arrival to the end of the answer; null: any. */
  readonly deadlineMs: number | null;
}

/** SamplingParams as far as the request decides them: what depends on the prompt is open. */
export type RequestedParams = Omit<SamplingParams, "seed" | "maxTokens"> & {
  /** undefined: one for each prompt, from nextSeed. */
  readonly seed: number | undefined;
};

/**
 * Checks that prompts can run, and decides what is left open. Must come last: a request that is refused draws no seed,
 * or those after it would have other ones.
 *
 * @param maxTokens as asked; undefined: `defaultMaxTokens`, or less where that is more than is left of the context
 * @throws ChorusError invalid_value, context_length_exceeded, cache_capacity_exceeded
 */
export function preparePrompts(
  prompts: readonly EncodedPrompt[],
  { seed, ...requested }: RequestedParams,
  maxTokens: number | undefined,
  defaultMaxTokens: number,
  context: RequestContext,
): ParsedPrompt[] {
  const sized = prompts.map((prompt) => {
    const left = Math.max(1, maxSequenceLength(context.limits) - prompt.tokenIds.length);
    const params = { ...requested, maxTokens: maxTokens ?? Math.min(defaultMaxTokens, left) };
    if (params.minTokens > params.maxTokens) {
      const message = `min_tokens is ${params.minTokens}, more than the ${params.maxTokens} tokens of max_tokens.`;
      throw new ChorusError("invalid_value", message, "min_tokens");
    }
    checkPrompt(prompt, params.maxTokens, context);
    return { ...prompt, params };
  });
  return sized.map(({ params, ...prompt }) => ({
    ...prompt,
    params: { ...params, seed: seed ?? context.nextSeed() },
  }));
}

function checkPrompt({ tokenIds, param }: EncodedPrompt, maxTokens: number, context: RequestContext): void {
  const { limits, vocabSize } = context;
  const outside = tokenIds.find((id) => id >= vocabSize);
  if (outside !== undefined) {
    throw new ChorusError(
      "invalid_value",
      `${param} has token ${outside}; this model's end at ${vocabSize - 1}.`,
      param,
    );
  }
  checkAdmission(tokenIds.length, maxTokens, param, limits);
}
