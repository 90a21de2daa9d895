import type { SampledToken } from "../engine/runner.ts";
import type { CompletionLogprobs, PromptLogprobs, TokenLogprob, TopLogprob } from "../protocol/openai.ts";
import { reportedPromptIds, type ChoiceOutput } from "./answer.ts";
import type { TokenNames } from "./token-names.ts";
import type { ParsedRequest } from "./parsed-request.ts";

/** Lowest log-probability to return, as in vLLM: JSON has no -Infinity. */
const LOWEST_IN_JSON = -9999;

/** Tokens in a row; null has no token before it. */
interface Logprobs {
  readonly tokenIds: readonly number[];
  readonly logprobs: readonly (number | null)[];
  readonly topLogprobs: readonly (ChoiceOutput["topLogprobs"][number] | null)[];
}

/** chat.completions' shape. */
export function chatLogprobs(
  { tokenIds, logprobs, topLogprobs }: Pick<ChoiceOutput, "tokenIds" | "logprobs" | "topLogprobs">,
  names: TokenNames,
  { namesTokensById }: Pick<ParsedRequest, "namesTokensById">,
): TokenLogprob[] {
  const named = (id: number, logprob: number): TopLogprob => ({
    token: nameOf(id, names, namesTokensById),
    logprob: finite(logprob),
    bytes: [...names.tokenBytes(id)],
  });
  return tokenIds.map((id, i) => ({
    ...named(id, logprobs[i] ?? 0),
    top_logprobs: (topLogprobs[i] ?? []).map(({ tokenId, logprob }) => named(tokenId, logprob)),
  }));
}

/** completions' shape. @param offset where in the choice's text the first token begins */
export function completionLogprobs(
  request: ParsedRequest,
  { tokenIds, logprobs, topLogprobs }: Logprobs,
  names: TokenNames,
  offset: number,
): CompletionLogprobs {
  const offsets = tokenIds.map((id) => {
    const { length } = names.tokenText(id);
    return (offset += length) - length;
  });
  const name = (id: number) => nameOf(id, names, request.namesTokensById);
  const top = tokenIds.map((tokenId, i) => {
    const logprob = logprobs[i] ?? null;
    if (logprob === null) return null;
    const both = [...(topLogprobs[i] ?? []), { tokenId, logprob }];
    return Object.fromEntries(both.map((one) => [name(one.tokenId), finite(one.logprob)]));
  });
  const wantsTop = request.prompts.some(({ params }) => params.topLogprobs > 0);
  return {
    tokens: tokenIds.map(name),
    token_logprobs: tokenIds.map((_, i) => {
      const logprob = logprobs[i] ?? null;
      return logprob === null ? null : finite(logprob);
    }),
    top_logprobs: wantsTop ? top : null,
    text_offset: offsets,
  };
}

/** Returns the prompt's tokens if the request wants both an echo and log-probabilities, else none. */
export function echoedLogprobs(request: ParsedRequest, choice: number, scores: readonly SampledToken[]): Logprobs {
  if (!request.echo || !request.wantLogprobs) return { tokenIds: [], logprobs: [], topLogprobs: [] };
  const numTop = request.prompts[0]?.params.topLogprobs ?? 0;
  const tokenIds = reportedPromptIds(request, choice);
  const { before = 0 } = request.prompts[Math.floor(choice / request.n)]?.added ?? {};
  const all = [null, ...scores].slice(before, before + tokenIds.length);
  return {
    tokenIds,
    logprobs: all.map((score) => score?.logprob ?? null),
    topLogprobs: all.map((score) => (score === null ? null : (score.top?.slice(0, numTop) ?? []))),
  };
}

export function inTurn(first: Logprobs, second: Logprobs): Logprobs {
  return {
    tokenIds: [...first.tokenIds, ...second.tokenIds],
    logprobs: [...first.logprobs, ...second.logprobs],
    topLogprobs: [...first.topLogprobs, ...second.topLogprobs],
  };
}

/**
 * vLLM's shape of prompt_logprobs: for each prompt token, by id, itself and the most likely tokens in its place.
 * @param scores of the prompt's tokens from the second one on
 */
export function promptLogprobs(scores: readonly SampledToken[], numTop: number, names: TokenNames): PromptLogprobs {
  const described = ({ tokenId, logprob }: SampledToken, rank: number) =>
    [tokenId, { logprob: finite(logprob), rank, decoded_token: names.tokenText(tokenId) }] as const;
  const entries = scores.map((score) => {
    const top = score.top?.slice(0, numTop) ?? [];
    return Object.fromEntries([...top.map((one, i) => described(one, i + 1)), described(score, score.rank ?? 0)]);
  });
  return [null, ...entries];
}

function nameOf(id: number, names: TokenNames, isById: boolean): string {
  return isById ? `token_id:${id}` : names.tokenText(id);
}

function finite(logprob: number): number {
  return Math.max(logprob, LOWEST_IN_JSON);
}
