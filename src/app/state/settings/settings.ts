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

/** Most answers to a question, side by side. */
export const MAX_ANSWERS = 8;

/** Long enough for a chat's answer. */
export const LONGEST_ANSWER_TOKENS = 256;

/** In display order. */
const SETTINGS = {
  system: {
    isFirst: true,
    section: "Prompt",
    kind: "text",
    isLong: true,
    label: "System prompt",
    modelDefault: () => "none",
    isRewritten: true,
  },
  continue_text: {
    kind: "flag",
    label: "Continue text",
    modelDefault: ({ chat }) => (chat ? "off" : "on"),
    isRewritten: true,
  },
  temperature: {
    isFirst: true,
    section: "Choosing words",
    kind: "number",
    label: "Temperature",
    min: 0,
    max: 2,
    slider: [0, 2, 0.05],
    inPresets: true,
    notWithBeams: true,
  },
  top_p: {
    kind: "number",
    label: "Top p",
    min: 0.01,
    max: 1,
    slider: [0.05, 1, 0.01],
    inPresets: true,
    notWithBeams: true,
  },
  top_k: {
    kind: "integer",
    label: "Top k",
    min: 0,
    max: 1_000_000,
    inPresets: true,
    notWithBeams: true,
  },
  min_p: {
    kind: "number",
    label: "Min p",
    min: 0,
    max: 1,
    slider: [0, 0.5, 0.01],
    inPresets: true,
    notWithBeams: true,
  },
  seed: {
    kind: "integer",
    label: "Seed",
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    modelDefault: () => "random",
    notWithBeams: true,
  },
  logit_bias: {
    kind: "lines",
    label: "Logit bias",
    maxLines: 16,
    lines: 'lines such as "Paris: 5" or "#464: -100", with a number from -100 to 100',
    isLine: (line) => readBias(line) !== null,
    modelDefault: () => "none",
  },
  repetition_penalty: {
    section: "Repetition",
    kind: "number",
    label: "Repetition penalty",
    min: 0.01,
    max: 100,
    slider: [0.8, 1.6, 0.05],
    inPresets: true,
  },
  presence_penalty: {
    kind: "number",
    label: "Presence penalty",
    min: -2,
    max: 2,
    slider: [-2, 2, 0.1],
    modelDefault: () => "0",
    inPresets: true,
  },
  frequency_penalty: {
    kind: "number",
    label: "Frequency penalty",
    min: -2,
    max: 2,
    slider: [-2, 2, 0.1],
    modelDefault: () => "0",
    inPresets: true,
  },
  no_repeat_ngram_size: {
    kind: "integer",
    label: "No-repeat n-gram",
    min: 0,
    max: 100,
    modelDefault: () => "the model's own",
  },
  max_tokens: {
    isFirst: true,
    section: "Length",
    kind: "integer",
    label: "Maximum answer length",
    min: 1,
    max: 1_000_000,
    modelDefault: ({ contextLength }) => String(Math.min(LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2))),
  },
  stop: {
    kind: "lines",
    label: "Stop sequences",
    maxLines: 16,
    lines: "texts that are not empty",
    isLine: (line) => line !== "",
    modelDefault: () => "none",
    notWithBeams: true,
  },
  n: {
    section: "Answers",
    kind: "integer",
    label: "Answers",
    called: "several answers",
    min: 1,
    max: MAX_ANSWERS,
    modelDefault: () => "1",
  },
  beams: {
    kind: "integer",
    label: "Beams",
    min: 0,
    max: 16,
    modelDefault: () => "0",
  },
  answer_schema: {
    kind: "json",
    label: "Answer in JSON",
    form: 'a schema, a JSON object such as { "type": "object" }',
    check: anyObject,
    modelDefault: () => "any text",
    isRewritten: true,
  },
  show_probabilities: {
    kind: "flag",
    label: "Show probabilities",
    notWithBeams: true,
    isRewritten: true,
  },
  priority: {
    kind: "integer",
    label: "Priority",
    min: -1000,
    max: 1000,
    modelDefault: () => "0",
  },
  calculator: {
    section: "Tools",
    kind: "flag",
    label: "Calculator",
    isRewritten: true,
  },
  clock: {
    kind: "flag",
    label: "Clock",
    isRewritten: true,
  },
  search_chats: {
    kind: "flag",
    label: "Search my chats",
    isRewritten: true,
  },
  mcp_servers: {
    kind: "lines",
    label: "MCP servers",
    maxLines: 8,
    lines: "addresses, each as Connections has it",
    isLine: (line) => URL.canParse(line.trim()),
    modelDefault: () => "none",
    isRewritten: true,
  },
  own_tools: {
    kind: "json",
    label: "Tools of your own",
    form: "a list of tools in OpenAI's form",
    check: checkTools,
    modelDefault: () => "none",
    isRewritten: true,
  },
  tool_choice: {
    kind: "choice",
    label: "Calls",
    choices: ["auto", "once"],
    names: { auto: "as the model likes", once: "once before each answer" },
    modelDefault: () => "as the model likes",
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
