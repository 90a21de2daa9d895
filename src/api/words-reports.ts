import type { SamplingParams } from "../engine/sampling/sampling-params.ts";
import type { SequenceOutput } from "../engine/text/output.ts";
import type { ChatCompletionRequest, GenerationFields } from "../protocol/openai.ts";
import type { AnsweredReport, AskedReport, StepReport } from "../protocol/reports.ts";
import type { GenerationRequest } from "../protocol/service.ts";
import { textOf, type TokenNames } from "./token-names.ts";
import type { ParsedRequest } from "./parsed-request.ts";
import { BEAM_FIELDS } from "./beam-fields.ts";

/** Fields of a body that decide which tokens come, besides those that are known in full once it is parsed. */
const KEPT_FIELDS = [
  "logit_bias",
  "bad_words",
  "allowed_token_ids",
  "response_format",
  "structured_outputs",
  ...BEAM_FIELDS,
] as const satisfies readonly (keyof GenerationFields)[];

/**
 * Returns for each prompt of a request the completion that gives the same tokens again, whatever the defaults are then.
 * @param body as the caller wrote it
 * @param requestIds the engine's, one for each prompt
 */
export function askedReports(
  { prompts, n, beamSearch, priority, cacheSalt }: ParsedRequest,
  body: GenerationRequest["body"],
  requestIds: readonly string[],
  names: TokenNames,
): AskedReport[] {
  const kept = Object.fromEntries(
    KEPT_FIELDS.map((name) => [name, body[name] ?? null]).filter(([, value]) => value !== null),
  );
  return prompts.map(({ tokenIds, params }, i) => ({
    status: "asked",
    requestId: requestIds[i] ?? "",
    question: "messages" in body ? questionIn(body) : textOf(tokenIds, names),
    text: textOf(tokenIds, names),
    body: {
      ...kept,
      ...(beamSearch === null && drawnBy(params)),
      prompt: [...tokenIds],
      max_tokens: params.maxTokens,
      repetition_penalty: params.repetitionPenalty,
      no_repeat_ngram_size: params.noRepeatNgramSize,
      min_tokens: params.minTokens,
      stop_token_ids: [...params.stopTokenIds],
      ignore_eos: params.ignoreEos,
      n,
      priority,
      ...(cacheSalt !== null && { cache_salt: cacheSalt }),
    },
  }));
}

/** Fields that beam search refuses. */
function drawnBy(params: SamplingParams) {
  return {
    seed: params.seed,
    temperature: params.temperature,
    top_k: params.topK,
    top_p: params.topP,
    min_p: params.minP,
    typical_p: params.typicalP,
    presence_penalty: params.presencePenalty,
    frequency_penalty: params.frequencyPenalty,
    stop: [...params.stop],
    include_stop_str_in_output: params.includeStopStrInOutput,
  };
}

/** The body has been checked: content is a text, or parts of text. */
function questionIn({ messages }: ChatCompletionRequest): string {
  const content: unknown = messages.findLast(({ role }) => role === "user")?.content ?? "";
  const parts = Array.isArray(content) ? (content as { readonly text: string }[]) : [{ text: String(content) }];
  return parts.map(({ text }) => text).join("\n");
}

/** @param report the step that the outputs came from; null: they ended between two steps */
export function answeredReports(outputs: readonly SequenceOutput[], report: StepReport | null): AnsweredReport[] {
  const answers = outputs
    .filter(({ tokenIds, text }) => tokenIds.length > 0 || text !== "")
    .map(({ requestId, index, tokenIds, text }) => ({ requestId, index, tokenIds, text }));
  return answers.length === 0 ? [] : [{ status: "answered", step: report?.step ?? null, answers }];
}
