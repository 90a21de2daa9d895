// Requests and outputs by hand, and what becomes of them: streamed or whole.

import type { AnswerHead, ChoiceOutput } from "../../src/api/answer.ts";
import type { TokenNames } from "../../src/api/token-names.ts";
import { ChunkWriter } from "../../src/api/chunks.ts";
import type { ParsedRequest } from "../../src/api/parsed-request.ts";
import { ResponseBuilder } from "../../src/api/responses.ts";
import { NO_RULES } from "../../src/engine/sampling/logit-rules.ts";
import { NO_REASONING } from "../../src/engine/text/reasoning-splitter.ts";
import { NO_FILTERS } from "../../src/engine/sampling/sampling-params.ts";

// Token i is i letters "a"; token 0 is the end of text.
export const names: TokenNames = {
  tokenText: (id) => (id === 0 ? "<end>" : "a".repeat(id)),
  tokenBytes: (id) => new Uint8Array(id).fill(97),
};
export const params = {
  ...NO_RULES,
  ...NO_FILTERS,
  temperature: 1,
  seed: 1,
  topLogprobs: 0,
  promptLogprobs: null,
  maxTokens: 9,
  stop: [],
  stopTokenIds: [],
  includeStopStrInOutput: false,
  ignoreEos: false,
};
export const head: AnswerHead = { id: "id-1", created: 1700000000, model: "m" };

export function request(changes: Partial<ParsedRequest> = {}, prompts: number[][] = [[7, 8]]): ParsedRequest {
  return {
    endpoint: "chat.completions",
    prompts: prompts.map((tokenIds) => ({ tokenIds, params, param: "messages" })),
    n: 1,
    structure: null,
    calls: null,
    stream: true,
    includeUsage: false,
    returnTokenIds: false,
    namesTokensById: false,
    includeMetrics: false,
    wantLogprobs: false,
    reasoning: NO_REASONING,
    promptLogprobs: null,
    echo: false,
    isPromptOnly: false,
    priority: 0,
    requestId: null,
    cacheSalt: null,
    deadlineMs: null,
    beamSearch: null,
    ...changes,
  };
}

export const going = (text: string, ...tokenIds: number[]): ChoiceOutput => ({
  text,
  reasoning: "",
  tokenIds,
  logprobs: tokenIds.map((id) => -id),
  topLogprobs: tokenIds.map(() => []),
  promptScores: [],
  cachedTokens: 0,
  draftTokens: 0,
  acceptedTokens: 0,
  reasoningTokens: 0,
  finishReason: null,
  stopReason: null,
  score: null,
});
export const ending = (text: string, ...tokenIds: number[]): ChoiceOutput => ({
  ...going(text, ...tokenIds),
  finishReason: "stop",
});

export function stream(parsed: ParsedRequest, outputs: [number, ChoiceOutput][]) {
  const writer = new ChunkWriter(parsed, head, names);
  return writer.end(
    outputs.flatMap(([choice, output]) => writer.write(choice, output)),
    null,
  );
}

export function respond(parsed: ParsedRequest, outputs: [number, ChoiceOutput][]) {
  const builder = new ResponseBuilder(parsed, head, names);
  for (const [choice, output] of outputs) builder.add(choice, output);
  return builder.build(null);
}
