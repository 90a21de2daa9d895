// The settings for questions. An absent setting is inherited: a pane's from the settings for all panes, and those from the
// model.

import { parseJson, type GenerationFields, type ModelCard } from "../../../index.ts";
import type { Answerer } from "../../remote/answerer.ts";
import { readBias } from "./bias-line.ts";

type NumberName =
  | "temperature"
  | "top_p"
  | "top_k"
  | "min_p"
  | "repetition_penalty"
  | "presence_penalty"
  | "frequency_penalty"
  | "no_repeat_ngram_size"
  | "max_tokens"
  | "seed"
  | "n"
  | "beams"
  | "priority";

export type Settings = {
  /** The system prompt. */
  readonly system?: string;
  readonly stop?: readonly string[];
  /** Lines such as "Paris: 5", or "#464: -100" for a token's id. */
  readonly logit_bias?: readonly string[];
  /** The text of a JSON schema. */
  readonly answer_schema?: string;
  readonly show_probabilities?: boolean;
  /** Whether to continue the question as plain text. [true if the model has no chat template] */
  readonly continue_text?: boolean;
} & { readonly [Name in NumberName]?: number };

export type SettingName = keyof Settings;
export type SettingValue = string | number | boolean | readonly string[];

interface FieldOf<Kind extends string> {
  readonly kind: Kind;
  readonly label: string;
  /** One or two sentences for display. */
  readonly help: string;
  /** Returns the default value in words. */
  readonly modelDefault: (model: ModelCard) => string;
}

interface NumberField extends FieldOf<"number"> {
  readonly name: NumberName;
  readonly min: number;
  readonly max: number;
  /** 1 for whole numbers only. */
  readonly step: number;
}

interface LinesField extends FieldOf<"lines"> {
  readonly name: "stop" | "logit_bias";
  readonly maxLines: number;
  /** The form of each line, in words. */
  readonly lines: string;
  readonly isLine: (line: string) => boolean;
}

/** `text`: any. `lines`: a list of strings, one per line. `json`: a JSON schema as text. `flag`: on or off. */
export type SettingField =
  | NumberField
  | (FieldOf<"text"> & { readonly name: "system" })
  | LinesField
  | (FieldOf<"json"> & { readonly name: "answer_schema"; readonly example: string })
  | (FieldOf<"flag"> & { readonly name: "show_probabilities" | "continue_text" });

/** Most answers to a question, side by side. */
export const MAX_ANSWERS = 8;

/** Alternatives shown for each token. */
const TOP_PROBABILITIES = 5;

// Long enough for a chat's answer. At most half of the context, which leaves room for the conversation.
const LONGEST_ANSWER_TOKENS = 256;

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

/** In display order. A setting is one entry here and its name in `Settings`. */
export const SETTING_FIELDS: readonly SettingField[] = [
  {
    name: "system",
    kind: "text",
    label: "System prompt",
    help: "Given to the model before the conversation: who it should be and how it should answer.",
    modelDefault: () => "none",
  },
  {
    name: "temperature",
    kind: "number",
    label: "Temperature",
    help: "0 always chooses the likeliest word; higher values take more risks.",
    min: 0,
    max: 2,
    step: 0.05,
    modelDefault: ({ defaults }) => String(defaults.temperature),
  },
  {
    name: "top_p",
    kind: "number",
    label: "Top p",
    help: "Chooses among the likeliest words that together reach this probability. 1: all.",
    min: 0.01,
    max: 1,
    step: 0.01,
    modelDefault: ({ defaults }) => String(defaults.top_p),
  },
  {
    name: "top_k",
    kind: "number",
    label: "Top k",
    help: "Chooses among this many of the likeliest words. 0: all.",
    min: 0,
    max: 1_000_000,
    step: 1,
    modelDefault: ({ defaults }) => String(defaults.top_k),
  },
  {
    name: "min_p",
    kind: "number",
    label: "Min p",
    help: "Leaves out words whose probability is below this fraction of the likeliest word's. 0: none.",
    min: 0,
    max: 1,
    step: 0.01,
    modelDefault: ({ defaults }) => String(defaults.min_p),
  },
  {
    name: "repetition_penalty",
    kind: "number",
    label: "Repetition penalty",
    help: "Above 1, words of the conversation become less likely. 1: no change.",
    min: 0.01,
    max: 100,
    step: 0.05,
    modelDefault: ({ defaults }) => String(defaults.repetition_penalty),
  },
  {
    name: "presence_penalty",
    kind: "number",
    label: "Presence penalty",
    help: "Above 0, words that the answer has used become less likely; below 0, more likely.",
    min: -2,
    max: 2,
    step: 0.1,
    modelDefault: () => "0",
  },
  {
    name: "frequency_penalty",
    kind: "number",
    label: "Frequency penalty",
    help: "Like presence, but stronger with each use.",
    min: -2,
    max: 2,
    step: 0.1,
    modelDefault: () => "0",
  },
  {
    name: "no_repeat_ngram_size",
    kind: "number",
    label: "No-repeat n-gram",
    help: "Forbids repeating any n-gram of this size. 0: allows all.",
    min: 0,
    max: 100,
    step: 1,
    modelDefault: () => "the model's own",
  },
  {
    name: "max_tokens",
    kind: "number",
    label: "Maximum answer length",
    help: "In tokens. An answer that reaches it, or the end of what the model reads, can be continued.",
    min: 1,
    max: 1_000_000,
    step: 1,
    modelDefault: (model) => String(reservedTokens({}, model)),
  },
  {
    name: "seed",
    kind: "number",
    label: "Seed",
    help: "The same seed gives the same answer to the same conversation, whatever the other panes do.",
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    step: 1,
    modelDefault: () => "random",
  },
  {
    name: "n",
    kind: "number",
    label: "Answers",
    help: "This many answers to each question, side by side; choose the one to go on with. At temperature 0 they are the same.",
    min: 1,
    max: MAX_ANSWERS,
    step: 1,
    modelDefault: () => "1",
  },
  {
    name: "beams",
    kind: "number",
    label: "Beams",
    help: "Searches for the likeliest answer with this many beams. Temperature, filters, seed, stop sequences and probabilities then don't count. 0: none.",
    min: 0,
    max: 16,
    step: 1,
    modelDefault: () => "0",
  },
  {
    name: "priority",
    kind: "number",
    label: "Priority",
    help: "With the serving policy by priority, lower numbers are served first.",
    min: -1000,
    max: 1000,
    step: 1,
    modelDefault: () => "0",
  },
  {
    name: "stop",
    kind: "lines",
    label: "Stop sequences",
    help: "The answer ends before any of these texts, one per line.",
    maxLines: 16,
    lines: "texts that are not empty",
    isLine: (line) => line !== "",
    modelDefault: () => "none",
  },
  {
    name: "logit_bias",
    kind: "lines",
    label: "Logit bias",
    help: 'Makes words likelier or less likely, one per line: "Paris: 5", or "#464: -100" for the token 464. From -100, never, to 100.',
    maxLines: 16,
    lines: 'lines such as "Paris: 5" or "#464: -100", with a number from -100 to 100',
    isLine: (line) => readBias(line) !== null,
    modelDefault: () => "none",
  },
  {
    name: "continue_text",
    kind: "flag",
    label: "Continue text",
    help: "The model continues your text as is, ignoring earlier messages. For models not trained to chat.",
    modelDefault: ({ chat }) => (chat ? "off" : "on"),
  },
  {
    name: "show_probabilities",
    kind: "flag",
    label: "Show probabilities",
    help: "Shades the words of answers: the less likely, the darker. Point at one, or move there with the arrow keys, for its alternatives; click it to go on from there with one of them.",
    modelDefault: () => "off",
  },
  {
    name: "answer_schema",
    kind: "json",
    label: "Answer in JSON",
    help: "A JSON schema: the answer will always match this schema.",
    example: JSON.stringify(
      {
        type: "object",
        properties: { answer: { type: "string", maxLength: 80 }, mood: { enum: ["glad", "sad", "curious"] } },
        required: ["answer", "mood"],
        additionalProperties: false,
      },
      null,
      2,
    ),
    modelDefault: () => "any text",
  },
];

/** Returns `settings` with one of them set, or inherited where `value` is null. */
export function withSetting(settings: Settings, name: SettingName, value: SettingValue | null): Settings {
  const others = Object.entries(settings).filter(([other]) => other !== name);
  return Object.fromEntries(value === null ? others : [...others, [name, value]]);
}

/** Returns the effective settings of a question: servers have no beams, and only one answer is continued, not several. */
export function settingsFor(settings: Settings, isRemote: boolean, isContinued: boolean): Settings {
  const supported = isRemote ? withSetting(settings, "beams", null) : settings;
  return isContinued ? withSetting(supported, "n", null) : supported;
}

export type RequestFields = Pick<
  GenerationFields,
  Exclude<NumberName, "max_tokens" | "beams"> | "logit_bias" | "use_beam_search" | "best_of"
> & {
  max_tokens?: number;
  stop?: string[];
  logprobs?: true;
  top_logprobs?: number;
  response_format?: { type: "json_schema"; json_schema: { name: string; schema: Schema } };
};

/**
 * Returns the settings as fields of a request. The system prompt becomes a message instead, and biases need the model's
 * tokens first (state/chat/logit-bias.ts).
 */
export function requestFields(settings: Settings): RequestFields {
  const {
    system: _,
    stop,
    answer_schema: schema,
    show_probabilities: isShown,
    continue_text: __,
    logit_bias: ___,
    beams = 0,
    ...numbers
  } = settings;
  const fields: RequestFields = {
    ...numbers,
    ...(stop && { stop: [...stop] }),
    ...(isShown && { logprobs: true, top_logprobs: TOP_PROBABILITIES }),
    ...(schema !== undefined && {
      response_format: { type: "json_schema", json_schema: { name: "answer", schema: parseJson(schema) as Schema } },
    }),
  };
  return beams > 0 ? withBeams(fields, beams) : fields;
}

/** Fields about drawing or ending, which beam search refuses. */
const NOT_WITH_BEAMS = ["temperature", "top_p", "top_k", "min_p", "seed", "stop", "logprobs", "top_logprobs"];

/** Returns the fields with beam search: its answers are the best of its beams. */
function withBeams(fields: RequestFields, beams: number): RequestFields {
  const others = Object.entries(fields).filter(([name]) => !NOT_WITH_BEAMS.includes(name));
  return { ...Object.fromEntries(others), use_beam_search: true, best_of: beams, n: Math.min(fields.n ?? 1, beams) };
}

type Schema = { readonly [keyword: string]: unknown };
