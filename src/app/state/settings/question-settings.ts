// What settings mean for a question.

import { parseJson, type GenerationFields, type ModelCard } from "../../../index.ts";
import type { Answerer } from "../../remote/answerer.ts";
import { LONGEST_ANSWER_TOKENS, SETTING_FIELDS, withSetting, without, type Settings } from "./settings.ts";

/** Alternatives shown for each token. */
const TOP_PROBABILITIES = 5;

/**
 * Returns how many tokens of the context a chat leaves free for its answer: at most half of them, or a chat whose answers
 * may be long would be forgotten. Returns null if that is not known.
 */
export function reservedTokens(
  { max_tokens: set }: Settings,
  model: Pick<Answerer["model"], "contextLength">,
): number | null {
  const { contextLength } = model;
  return contextLength === null ? null : Math.min(set ?? LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2));
}

/** Returns whether the model continues a question as plain text, instead of answering it as a chat message. */
export function continuesText({ continue_text: isSet }: Settings, { chat }: Pick<ModelCard, "chat">): boolean {
  return isSet ?? !chat;
}

/** Returns the effective settings of a question: servers have no beams, and only one answer is continued, not several. */
export function settingsFor(settings: Settings, isRemote: boolean, isContinued: boolean): Settings {
  const supported = isRemote ? withSetting(settings, "beams", null) : settings;
  return isContinued ? withSetting(supported, "n", null) : supported;
}

export type RequestFields = GenerationFields & {
  max_tokens?: number;
  stop?: string[];
  logprobs?: true;
  top_logprobs?: number;
  response_format?: { type: "json_schema"; json_schema: { name: string; schema: Schema } };
};

/** Fields about drawing or ending. */
const NOT_WITH_BEAMS = SETTING_FIELDS.filter((field) => field.notWithBeams).map(({ name }) => name);

/**
 * Returns the settings as fields of a request. The system prompt becomes a message instead, and biases need the model's
 * tokens first (state/chat/logit-bias.ts). The answers of a beam search are the best of its beams.
 */
export function requestFields(settings: Settings): RequestFields {
  const { beams = 0 } = settings;
  const {
    system: _,
    stop,
    answer_schema: schema,
    show_probabilities: isShown,
    continue_text: __,
    logit_bias: ___,
    beams: ____,
    ...numbers
  } = beams > 0 ? without(settings, NOT_WITH_BEAMS) : settings;
  return {
    ...numbers,
    ...(stop && { stop: [...stop] }),
    ...(isShown && { logprobs: true, top_logprobs: TOP_PROBABILITIES }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: parseJson(schema) as Schema } },
    }),
    ...(beams > 0 && { use_beam_search: true, best_of: beams, n: Math.min(numbers.n ?? 1, beams) }),
  };
}

type Schema = { readonly [keyword: string]: unknown };
