// The settings for questions. All that the app knows of a setting is its entry in this table: its row in the forms, its type, its
// place in requests, presets and saved chats. Only examples load with the forms (settings-examples.ts).

import type { ModelCard } from "../../../index.ts";
import { readBias } from "./bias-line.ts";
import { anyObject } from "../read-record.ts";
import { checkTools } from "./own-tools.ts";
import { checkFields, type FieldKind, type FieldValue, type FieldWords, type ValueOf } from "./field.ts";

interface Entry extends FieldWords {
  /** What it does, in one or two sentences. */
  readonly help: string;
  /** The title of the section that it begins. */
  readonly section?: string;
  /** Whether the form begins with it, before its sections. */
  readonly isFirst?: true;
  /** Its name in a list, where its label would not do. [its label] */
  readonly called?: string;
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

const flag = (label: string, rest: Rest) => ({ kind: "flag", label, isRewritten: true, ...rest }) as const;
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
  system: {
    kind: "text",
    label: "System prompt",
    help: "Given to the model before the conversation: who it should be and how it should answer.",
    ...NONE,
    isFirst: true,
    section: "Prompt",
    isLong: true,
    isRewritten: true,
  },
  continue_text: flag("Continue text", {
    help: "The model continues your text as is, ignoring earlier messages. For models not trained to chat.",
    modelDefault: ({ chat }) => (chat ? "off" : "on"),
  }),
  temperature: number("Temperature", 0, 2, {
    help: "0 always chooses the likeliest word; higher values take more risks.",
    ...SAMPLING,
    isFirst: true,
    section: "Choosing words",
    slider: [0, 2, 0.05],
  }),
  top_p: number("Top p", 0.01, 1, {
    help: "Chooses among the likeliest words that together reach this probability. 1: all.",
    ...SAMPLING,
    slider: [0.05, 1, 0.01],
  }),
  top_k: integer("Top k", 0, 1_000_000, {
    ...SAMPLING,
    help: "Chooses among this many of the likeliest words. 0: all.",
  }),
  min_p: number("Min p", 0, 1, {
    help: "Leaves out words whose probability is below this fraction of the likeliest word's. 0: none.",
    ...SAMPLING,
    slider: [0, 0.5, 0.01],
  }),
  seed: integer("Seed", 0, Number.MAX_SAFE_INTEGER, {
    help: "The same seed gives the same answer to the same conversation, whatever the other panes do.",
    modelDefault: () => "random",
    notWithBeams: true,
  }),
  logit_bias: {
    kind: "lines",
    label: "Logit bias",
    help: 'Makes words likelier or less likely, one per line: "Paris: 5", or "#464: -100" for the token 464. From -100, never, to 100.',
    ...NONE,
    maxLines: 16,
    lines: 'lines such as "Paris: 5" or "#464: -100", with a number from -100 to 100',
    isLine: (line) => readBias(line) !== null,
  },
  repetition_penalty: number("Repetition penalty", 0.01, 100, {
    help: "Above 1, words of the conversation become less likely. 1: no change.",
    section: "Repetition",
    inPresets: true,
    slider: [0.8, 1.6, 0.05],
  }),
  presence_penalty: number("Presence penalty", -2, 2, {
    ...PENALTY,
    help: "Above 0, words that the answer has used become less likely; below 0, more likely.",
  }),
  frequency_penalty: number("Frequency penalty", -2, 2, {
    ...PENALTY,
    help: "Like presence, but stronger with each use.",
  }),
  no_repeat_ngram_size: integer("No-repeat n-gram", 0, 100, {
    help: "Forbids repeating any n-gram of this size. 0: allows all.",
    modelDefault: () => "the model's own",
  }),
  max_tokens: integer("Maximum answer length", 1, 1_000_000, {
    help: "In tokens. An answer that reaches it, or the end of what the model reads, can be continued.",
    isFirst: true,
    section: "Length",
    modelDefault: ({ contextLength }) => String(Math.min(LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2))),
  }),
  stop: {
    kind: "lines",
    label: "Stop sequences",
    help: "The answer ends before any of these texts, one per line.",
    ...NONE,
    maxLines: 16,
    lines: "texts that are not empty",
    isLine: (line) => line !== "",
    notWithBeams: true,
  },
  n: integer("Answers", 1, MAX_ANSWERS, {
    help: "This many answers to each question, side by side; choose the one to go on with. At temperature 0 they are the same.",
    section: "Answers",
    called: "several answers",
    modelDefault: () => "1",
  }),
  beams: integer("Beams", 0, 16, {
    ...ZERO,
    help: "Searches for the likeliest answer with this many beams. Temperature, filters, seed, stop sequences and probabilities then don't count. 0: none.",
  }),
  answer_schema: {
    kind: "json",
    label: "Answer in JSON",
    help: "A JSON schema: the answer will always match this schema.",
    modelDefault: () => "any text",
    form: 'a schema, a JSON object such as { "type": "object" }',
    check: anyObject,
    isRewritten: true,
  },
  show_probabilities: flag("Show probabilities", {
    help: "Shades the words of answers: the less likely, the darker. Point at one, or move there with the arrow keys, for its alternatives; click it to go on from there with one of them.",
    notWithBeams: true,
  }),
  priority: integer("Priority", -1000, 1000, {
    ...ZERO,
    help: "With the serving policy by priority, lower numbers are served first.",
  }),
  calculator: flag("Calculator", {
    help: "The model may call it: exact arithmetic. Every call of a tool waits for your click, until you trust the tool in a chat.",
    section: "Tools",
  }),
  clock: flag("Clock", { help: "Date, time and time zone of this machine." }),
  search_chats: flag("Search my chats", {
    help: "Finds passages of the chats in this browser. The model reads what is found: a server's, too, if it answers.",
  }),
  mcp_servers: {
    kind: "lines",
    label: "MCP servers",
    help: "Addresses of those that are under Connections, one per line: all of their tools.",
    ...NONE,
    maxLines: 8,
    lines: "addresses, each as Connections has it",
    isLine: (line) => URL.canParse(line.trim()),
    isRewritten: true,
  },
  own_tools: {
    kind: "json",
    label: "Tools of your own",
    help: "A list in OpenAI's form. You type what each call returns.",
    ...NONE,
    form: "a list of tools in OpenAI's form",
    check: checkTools,
    isRewritten: true,
  },
  tool_choice: {
    kind: "choice",
    label: "Calls",
    help: "Models that were not trained for tools call once, if they must, or always.",
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
