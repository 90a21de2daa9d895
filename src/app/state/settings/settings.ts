// The settings for questions. All that the app knows of a setting is its entry in this table: its row in the forms, its type, its
// place in requests, presets and saved chats. Its docstring is its help, which loads with the forms.

import type { ModelCard } from "../../../index.ts";
import { readBias } from "./bias-line.ts";
import { anyObject } from "../read-record.ts";
import { checkTools } from "./own-tools.ts";
import { checkFields, type FieldKind, type FieldValue, type FieldWords, type ValueOf } from "./field.ts";

interface Entry extends FieldWords {
  /** The title of the section that it begins. */
  readonly section?: string;
  /** Whether the form begins with it, before its sections. */
  readonly isFirst?: true;
  /** Its name in a list, where its label would not do. [its label] */
  readonly called?: string;
  /** What "Insert example" inserts. [no such button] */
  readonly example?: object;
  /** Returns the default value in words. [a model's own; a switch is off] */
  readonly modelDefault?: (model: ModelCard) => string;
  /** Whether a preset sets or resets it. */
  readonly inPresets?: true;
  /** Whether questions have no field of this name, but say it otherwise: every server understands that. */
  readonly isRewritten?: true;
  /** Whether beam search refuses it: it is about drawing or ending. */
  readonly notWithBeams?: true;
}

/** What an entry has besides its kind and its label. */
type Rest = Omit<Entry, "label">;
type Slider = Pick<Extract<FieldKind, { kind: "integer" | "number" }>, "slider">;

/** Most answers to a question, side by side. */
export const MAX_ANSWERS = 8;

/** Long enough for a chat's answer. */
export const LONGEST_ANSWER_TOKENS = 256;

const flag = (label: string, rest: Rest = {}) => ({ kind: "flag", label, isRewritten: true, ...rest }) as const;
const integer = (label: string, min: number, max: number, rest: Rest) =>
  ({ kind: "integer", label, min, max, ...rest }) as const;
const number = (label: string, min: number, max: number, rest: Rest & Slider) =>
  ({ kind: "number", label, min, max, ...rest }) as const;

const NONE = { modelDefault: () => "none" };
const ZERO = { modelDefault: () => "0" };
const SAMPLING = { inPresets: true, notWithBeams: true } as const;
const PENALTY = { ...ZERO, inPresets: true, slider: [-2, 2, 0.1] } as const;

/** In display order. */
const SETTINGS = {
  /** Given to the model before the conversation: who it should be and how it should answer. */
  system: {
    kind: "text",
    label: "System prompt",
    ...NONE,
    isFirst: true,
    section: "Prompt",
    isLong: true,
    isRewritten: true,
  },
  /** The model continues your text as is, ignoring earlier messages. For models not trained to chat. */
  continue_text: flag("Continue text", { modelDefault: ({ chat }) => (chat ? "off" : "on") }),
  /** 0 always chooses the likeliest word; higher values take more risks. */
  temperature: number("Temperature", 0, 2, {
    ...SAMPLING,
    isFirst: true,
    section: "Choosing words",
    slider: [0, 2, 0.05],
  }),
  /** Chooses among the likeliest words that together reach this probability. 1: all. */
  top_p: number("Top p", 0.01, 1, { ...SAMPLING, slider: [0.05, 1, 0.01] }),
  /** Chooses among this many of the likeliest words. 0: all. */
  top_k: integer("Top k", 0, 1_000_000, SAMPLING),
  /** Leaves out words whose probability is below this fraction of the likeliest word's. 0: none. */
  min_p: number("Min p", 0, 1, { ...SAMPLING, slider: [0, 0.5, 0.01] }),
  /** The same seed gives the same answer to the same conversation, whatever the other panes do. */
  seed: integer("Seed", 0, Number.MAX_SAFE_INTEGER, { modelDefault: () => "random", notWithBeams: true }),
  /**
   * Makes words likelier or less likely, one per line: "Paris: 5", or "#464: -100" for the token 464. From -100, never, to 100.
   */
  logit_bias: {
    kind: "lines",
    label: "Logit bias",
    ...NONE,
    maxLines: 16,
    lines: 'lines such as "Paris: 5" or "#464: -100", with a number from -100 to 100',
    isLine: (line) => readBias(line) !== null,
  },
  /** Above 1, words of the conversation become less likely. 1: no change. */
  repetition_penalty: number("Repetition penalty", 0.01, 100, {
    section: "Repetition",
    inPresets: true,
    slider: [0.8, 1.6, 0.05],
  }),
  /** Above 0, words that the answer has used become less likely; below 0, more likely. */
  presence_penalty: number("Presence penalty", -2, 2, PENALTY),
  /** Like presence, but stronger with each use. */
  frequency_penalty: number("Frequency penalty", -2, 2, PENALTY),
  /** Forbids repeating any n-gram of this size. 0: allows all. */
  no_repeat_ngram_size: integer("No-repeat n-gram", 0, 100, { modelDefault: () => "the model's own" }),
  /** In tokens. An answer that reaches it, or the end of what the model reads, can be continued. */
  max_tokens: integer("Maximum answer length", 1, 1_000_000, {
    isFirst: true,
    section: "Length",
    modelDefault: ({ contextLength }) => String(Math.min(LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2))),
  }),
  /** The answer ends before any of these texts, one per line. */
  stop: {
    kind: "lines",
    label: "Stop sequences",
    ...NONE,
    maxLines: 16,
    lines: "texts that are not empty",
    isLine: (line) => line !== "",
    notWithBeams: true,
  },
  /** This many answers to each question, side by side; choose the one to go on with. At temperature 0 they are the same. */
  n: integer("Answers", 1, MAX_ANSWERS, { section: "Answers", called: "several answers", modelDefault: () => "1" }),
  /**
   * Searches for the likeliest answer with this many beams. Temperature, filters, seed, stop sequences and probabilities then
   * don't count. 0: none.
   */
  beams: integer("Beams", 0, 16, ZERO),
  /** A JSON schema: the answer will always match this schema. */
  answer_schema: {
    kind: "json",
    label: "Answer in JSON",
    modelDefault: () => "any text",
    form: 'a schema, a JSON object such as { "type": "object" }',
    check: anyObject,
    example: {
      type: "object",
      properties: { answer: { type: "string", maxLength: 80 }, mood: { enum: ["glad", "sad", "curious"] } },
      required: ["answer", "mood"],
      additionalProperties: false,
    },
    isRewritten: true,
  },
  /**
   * Shades the words of answers: the less likely, the darker. Point at one, or move there with the arrow keys, for its
   * alternatives; click it to go on from there with one of them.
   */
  show_probabilities: flag("Show probabilities", { notWithBeams: true }),
  /** With the serving policy by priority, lower numbers are served first. */
  priority: integer("Priority", -1000, 1000, ZERO),
  /** The model may call it: exact arithmetic. Every call of a tool waits for your click, until you trust the tool in a chat. */
  calculator: flag("Calculator", { section: "Tools" }),
  /** Date, time and time zone of this machine. */
  clock: flag("Clock"),
  /** Finds passages of the chats in this browser. The model reads what is found: a server's, too, if it answers. */
  search_chats: flag("Search my chats"),
  /** Addresses of those that are under Connections, one per line: all of their tools. */
  mcp_servers: {
    kind: "lines",
    label: "MCP servers",
    ...NONE,
    maxLines: 8,
    lines: "addresses, each as Connections has it",
    isLine: (line) => URL.canParse(line.trim()),
    isRewritten: true,
  },
  /** A list in OpenAI's form. You type what each call returns. */
  own_tools: {
    kind: "json",
    label: "Tools of your own",
    ...NONE,
    form: "a list of tools in OpenAI's form",
    check: checkTools,
    example: [
      {
        type: "function",
        function: {
          name: "weather",
          description: "Tells the weather in a city.",
          parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
        },
      },
    ],
    isRewritten: true,
  },
  /** Models that were not trained for tools call once, if they must, or always. */
  tool_choice: {
    kind: "choice",
    label: "Calls",
    modelDefault: () => "as the model likes",
    choices: ["auto", "once"],
    names: { auto: "as the model likes", once: "once before each answer" },
    isRewritten: true,
  },
} as const satisfies Readonly<Record<string, Entry & FieldKind>>;

type Table = typeof SETTINGS;
export type SettingName = keyof Table;
export type SettingField = { readonly name: SettingName } & Required<Pick<Entry, "modelDefault">> & Entry & FieldKind;

/** A setting that is absent is inherited: a pane's from the settings for all panes, and those from the model. */
export type Settings = { readonly [Name in SettingName]?: ValueOf<Table[Name]["kind"]> };

export const SETTING_FIELDS: readonly SettingField[] = (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
  name,
  modelDefault: ({ defaults }) => String(new Map<string, number>(Object.entries(defaults)).get(name) ?? "off"),
  ...SETTINGS[name],
}));

/** Returns `settings` with one of them set, or inherited where `value` is null. */
export function withSetting(settings: Settings, name: SettingName, value: FieldValue | null): Settings {
  return { ...without(settings, [name]), ...(value !== null && { [name]: value }) };
}

export function without(settings: Settings, names: readonly SettingName[]): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([name]) => !names.some((one) => one === name)));
}

/** @throws ChorusError unknown_parameter or invalid_value, naming the field */
export function checkSettings(values: object): Settings {
  return checkFields(SETTING_FIELDS, values, "setting"); // as the table says
}
