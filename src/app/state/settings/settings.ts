// The settings for questions. All that the app knows of a setting is its entry in this table: its row in the forms, its type, its
// place in requests, presets and saved chats. Only its help loads with the form (settings-help.ts).

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
  system: {
    kind: "text",
    label: "System prompt",
    ...NONE,
    isFirst: true,
    section: "Prompt",
    isLong: true,
    isRewritten: true,
  },
  continue_text: flag("Continue text", { modelDefault: ({ chat }) => (chat ? "off" : "on") }),
  temperature: number("Temperature", 0, 2, {
    ...SAMPLING,
    isFirst: true,
    section: "Choosing words",
    slider: [0, 2, 0.05],
  }),
  top_p: number("Top p", 0.01, 1, { ...SAMPLING, slider: [0.05, 1, 0.01] }),
  top_k: integer("Top k", 0, 1_000_000, SAMPLING),
  min_p: number("Min p", 0, 1, { ...SAMPLING, slider: [0, 0.5, 0.01] }),
  seed: integer("Seed", 0, Number.MAX_SAFE_INTEGER, { modelDefault: () => "random", notWithBeams: true }),
  logit_bias: {
    kind: "lines",
    label: "Logit bias",
    ...NONE,
    maxLines: 16,
    lines: 'lines such as "Paris: 5" or "#464: -100", with a number from -100 to 100',
    isLine: (line) => readBias(line) !== null,
  },
  repetition_penalty: number("Repetition penalty", 0.01, 100, {
    section: "Repetition",
    inPresets: true,
    slider: [0.8, 1.6, 0.05],
  }),
  presence_penalty: number("Presence penalty", -2, 2, PENALTY),
  frequency_penalty: number("Frequency penalty", -2, 2, PENALTY),
  no_repeat_ngram_size: integer("No-repeat n-gram", 0, 100, { modelDefault: () => "the model's own" }),
  max_tokens: integer("Maximum answer length", 1, 1_000_000, {
    isFirst: true,
    section: "Length",
    modelDefault: ({ contextLength }) => String(Math.min(LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2))),
  }),
  stop: {
    kind: "lines",
    label: "Stop sequences",
    ...NONE,
    maxLines: 16,
    lines: "texts that are not empty",
    isLine: (line) => line !== "",
    notWithBeams: true,
  },
  n: integer("Answers", 1, MAX_ANSWERS, { section: "Answers", called: "several answers", modelDefault: () => "1" }),
  beams: integer("Beams", 0, 16, ZERO),
  answer_schema: {
    kind: "json",
    label: "Answer in JSON",
    modelDefault: () => "any text",
    form: 'a schema, a JSON object such as { "type": "object" }',
    check: anyObject,
    isRewritten: true,
  },
  show_probabilities: flag("Show probabilities", { notWithBeams: true }),
  priority: integer("Priority", -1000, 1000, ZERO),
  calculator: flag("Calculator", { section: "Tools" }),
  clock: flag("Clock"),
  search_chats: flag("Search my chats"),
  mcp_servers: {
    kind: "lines",
    label: "MCP servers",
    ...NONE,
    maxLines: 8,
    lines: "addresses, each as Connections has it",
    isLine: (line) => URL.canParse(line.trim()),
    isRewritten: true,
  },
  own_tools: {
    kind: "json",
    label: "Tools of your own",
    ...NONE,
    form: "a list of tools in OpenAI's form",
    check: checkTools,
    isRewritten: true,
  },
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

/** The settings that most people want. */
export const FIRST_FIELDS = SETTING_FIELDS.filter(({ isFirst }) => isFirst);

/** The sections of the others, each with its fields. */
export const SETTING_SECTIONS = SETTING_FIELDS.reduce<[title: string, fields: SettingField[]][]>((sections, field) => {
  if (field.section !== undefined) sections.push([field.section, []]);
  if (!field.isFirst) sections.at(-1)?.[1].push(field);
  return sections;
}, []);

/** @throws ChorusError unknown_parameter or invalid_value, naming the field */
export function checkSettings(values: object): Settings {
  return checkFields(SETTING_FIELDS, values, "setting"); // as the table says
}
