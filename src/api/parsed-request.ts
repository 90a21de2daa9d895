import { checkAdmission, maxSequenceLength, type Limits } from "../engine/scheduling/admission.ts";
import type { ReasoningStart } from "../engine/text/reasoning-splitter.ts";
import type { BeamSearchParams, SamplingParams } from "../engine/sampling/sampling-params.ts";
import type { GrammarSource } from "../grammar/grammar-source.ts";
import type { CallPlan } from "./tools/call-reader.ts";
import type { TokenNames } from "./token-names.ts";
import type { ChatFormat } from "./chat-format.ts";
import { refused } from "./validate.ts";

/** Sampling defaults by the model's makers. */
type SamplingDefaults = Pick<
  SamplingParams,
  "temperature" | "topK" | "topP" | "minP" | "typicalP" | "repetitionPenalty" | "noRepeatNgramSize"
>;

export interface RequestContext {
  readonly modelName: string;
  /** Size of the model's embedding. */
  readonly vocabSize: number;
  readonly tokenizer: TokenNames & {
    encode(text: string): number[];
    /** Control tokens in the text stay text. */
    encodePlain(text: string): number[];
    /** The tokens around a text that is not part of a chat. */
    readonly specialTokens: { readonly before: readonly number[]; readonly after: readonly number[] };
  };
  readonly chatFormat: ChatFormat;
  readonly defaults: SamplingDefaults;
  readonly eosTokenIds: readonly number[];
  readonly limits: Limits;
  /** Seed of a prompt whose request gives none: a safe integer. */
  readonly nextSeed: () => number;
}

export interface EncodedPrompt {
  readonly tokenIds: readonly number[];
  /** How many of them, at the beginning and at the end, are none of the caller's text. */
  readonly added?: { readonly before: number; readonly after: number };
  /** The field it came from: "messages", "prompt", "prompt[2]". */
  readonly param: string;
}

/** One prompt, with `n` choices. */
interface ParsedPrompt extends EncodedPrompt {
  readonly params: SamplingParams;
}

/** A checked request with all defaults filled in. Choice i of prompt p is choice p * n + i of the request. */
export interface ParsedRequest {
  readonly endpoint: "chat.completions" | "completions";
  readonly prompts: readonly ParsedPrompt[];
  /** Choices of each prompt. */
  readonly n: number;
  /** null samples each choice independently. */
  readonly beamSearch: BeamSearchParams | null;
  readonly structure: GrammarSource | null;
  /** How answers call functions; null where they can't. */
  readonly calls: CallPlan | null;
  readonly stream: boolean;
  /** Whether the stream ends with a usage chunk. */
  readonly includeUsage: boolean;
  readonly returnTokenIds: boolean;
  /** Whether log-probabilities name their tokens by id. */
  readonly namesTokensById: boolean;
  readonly includeMetrics: boolean;
  readonly wantLogprobs: boolean;
  readonly reasoning: ReasoningStart;
  /** Number of top log-probabilities to return per prompt token; null returns none, not even the token's own. */
  readonly promptLogprobs: number | null;
  /** Whether each choice's text begins with the prompt's. */
  readonly echo: boolean;
  /** Whether the prompt is the whole text: it is scored, and the drawn token is not returned. */
  readonly isPromptOnly: boolean;
  /** Lower is served earlier. */
  readonly priority: number;
  /** Part of the answer's id; null: a random one. */
  readonly requestId: string | null;
  /** Only requests with the same salt share cached prefixes. */
  readonly cacheSalt: string | null;
  /** Most milliseconds from arrival to the end of the answer; null sets no limit. */
  readonly deadlineMs: number | null;
}

/** SamplingParams without the parts that depend on the prompt. */
export type RequestedParams = Omit<SamplingParams, "seed" | "maxTokens"> & {
  /** undefined draws one per prompt, from nextSeed. */
  readonly seed: number | undefined;
};

/**
 * Checks that prompts can run, and fills in the rest of the parameters. Must come last: a refused request must draw no
 * seed, or later requests would get other ones.
 *
 * @param maxTokens as requested; undefined means `defaultMaxTokens`, or the rest of the context if that is less
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
    const { minTokens, maxTokens: most } = params;
    if (minTokens > most)
      throw refused("min_tokens", `min_tokens is ${minTokens}, more than the ${most} tokens of max_tokens.`);
    checkPrompt(prompt, most, context);
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
  if (outside !== undefined)
    throw refused(param, `${param} has token ${outside}; this model's end at ${vocabSize - 1}.`);
  checkAdmission(tokenIds.length, maxTokens, param, limits);
}
