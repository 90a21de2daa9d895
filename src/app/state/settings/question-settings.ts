import { parseJson, type ChatTool, type GenerationFields, type ModelCard } from "../../../index.ts";
import { MAX_ROUNDS } from "../chat/tool-rounds.ts";
import type { Answerer } from "../../remote/answerer.ts";
import {
  LONGEST_ANSWER_TOKENS,
  SETTING_FIELDS,
  withSetting,
  without,
  type SettingField,
  type Settings,
} from "./settings.ts";

/** Alternatives shown for each token. */
const TOP_PROBABILITIES = 5;

/** Returns the tokens that a chat leaves free for its answer: at most half of the context. Null if that is not known. */
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

export function hasTools(settings: Settings): boolean {
  const { calculator, clock, search_chats: search, mcp_servers: servers = [], own_tools: own } = settings;
  return calculator || clock || search || servers.length > 0 || own !== undefined;
}

/** Returns the settings that count: servers and tools have no beams, and only one answer is continued or calls tools. */
export function settingsFor(settings: Settings, isRemote: boolean, isContinued: boolean): Settings {
  const isOne = isContinued || hasTools(settings);
  const supported = isRemote || hasTools(settings) ? withSetting(settings, "beams", null) : settings;
  return isOne ? withSetting(supported, "n", null) : supported;
}

export type RequestFields = GenerationFields & {
  max_tokens?: number;
  stop?: string[];
  logprobs?: true;
  top_logprobs?: number;
  response_format?: { type: "json_schema"; json_schema: { name: string; schema: Schema } };
};

const namesOf = (isWanted: (field: SettingField) => unknown) => SETTING_FIELDS.filter(isWanted).map(({ name }) => name);
/** Fields about drawing or ending. */
const NOT_WITH_BEAMS = namesOf((field) => field.notWithBeams);
const REWRITTEN = namesOf((field) => field.isRewritten);

/**
 * Returns the settings as fields of a request. The system prompt becomes a message instead, and biases need the model's
 * tokens first (state/chat/logit-bias.ts). The answers of a beam search are the best of its beams.
 */
export function requestFields(settings: Settings): RequestFields {
  const { beams = 0, answer_schema: schema } = settings;
  const used = beams > 0 ? without(settings, NOT_WITH_BEAMS) : settings;
  const { stop, logit_bias: _, beams: __, ...numbers } = without(used, REWRITTEN);
  return {
    ...numbers,
    ...(stop && { stop: [...stop] }),
    ...(used.show_probabilities && { logprobs: true, top_logprobs: TOP_PROBABILITIES }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: parseJson(schema) as Schema } },
    }),
    ...(beams > 0 && { use_beam_search: true, best_of: beams, n: Math.min(numbers.n ?? 1, beams) }),
  };
}

/** Returns the fields about tools. @param numRounds rounds of calls before */
export function toolFields(tools: readonly ChatTool[], { tool_choice: use }: Settings, numRounds: number) {
  if (tools.length === 0) return {};
  if (numRounds >= (use === "once" ? 1 : MAX_ROUNDS)) return { tools, tool_choice: "none" } as const;
  return use === "once" ? ({ tools, tool_choice: "required", parallel_tool_calls: false } as const) : { tools };
}

type Schema = { readonly [keyword: string]: unknown };
