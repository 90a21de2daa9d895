// The settings for questions. All that the app knows of a setting is its entry in this table: its row in the forms, its type, its
// place in requests, presets and saved chats.

import type { ModelCard } from "../../../index.ts";
import { readBias } from "./bias-line.ts";
import { checkTools } from "./own-tools.ts";
import { checkFields, type FieldKind, type FieldValue, type FieldWords, type ValueOf } from "./field.ts";

interface Entry extends FieldWords {
  /** The title of the section that it begins. */
  readonly section?: string;
  /** Whether the form begins with it, before its sections. */
  readonly isFirst?: true;
  /** Its name in a list, where its label would not do. [its label] */
  readonly called?: string;
  /** Returns the default value in words. */
  readonly modelDefault: (model: ModelCard) => string;
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
    help: "Given to the model before the conversation: who it should be and how it should answer.",
    modelDefault: () => "none",
    isRewritten: true,
  },
  continue_text: {
    kind: "flag",
    label: "Continue text",
    help: "The model continues your text as is, ignoring earlier messages. For models not trained to chat.",
    modelDefault: ({ chat }) => (chat ? "off" : "on"),
    isRewritten: true,
  },
  temperature: {
    isFirst: true,
    section: "Choosing words",
    kind: "number",
    label: "Temperature",
    help: "0 always chooses the likeliest word; higher values take more risks.",
    min: 0,
    max: 2,
    slider: [0, 2, 0.05],
    modelDefault: ({ defaults }) => String(defaults.temperature),
    inPresets: true,
    notWithBeams: true,
  },
  top_p: {
    kind: "number",
    label: "Top p",
    help: "Chooses among the likeliest words that together reach this probability. 1: all.",
    min: 0.01,
    max: 1,
    slider: [0.05, 1, 0.01],
    modelDefault: ({ defaults }) => String(defaults.top_p),
    inPresets: true,
    notWithBeams: true,
  },
  top_k: {
    kind: "integer",
    label: "Top k",
    help: "Chooses among this many of the likeliest words. 0: all.",
    min: 0,
    max: 1_000_000,
    modelDefault: ({ defaults }) => String(defaults.top_k),
    inPresets: true,
    notWithBeams: true,
  },
  min_p: {
    kind: "number",
    label: "Min p",
    help: "Leaves out words whose probability is below this fraction of the likeliest word's. 0: none.",
    min: 0,
    max: 1,
    slider: [0, 0.5, 0.01],
    modelDefault: ({ defaults }) => String(defaults.min_p),
    inPresets: true,
    notWithBeams: true,
  },
  seed: {
    kind: "integer",
    label: "Seed",
    help: "The same seed gives the same answer to the same conversation, whatever the other panes do.",
    min: 0,
    max: Number.MAX_SAFE_INTEGER,
    modelDefault: () => "random",
    notWithBeams: true,
  },
  logit_bias: {
    kind: "lines",
    label: "Logit bias",
    help: 'Makes words likelier or less likely, one per line: "Paris: 5", or "#464: -100" for the token 464. From -100, never, to 100.',
    maxLines: 16,
    lines: 'lines such as "Paris: 5" or "#464: -100", with a number from -100 to 100',
    isLine: (line) => readBias(line) !== null,
    modelDefault: () => "none",
  },
  repetition_penalty: {
    section: "Repetition",
    kind: "number",
    label: "Repetition penalty",
    help: "Above 1, words of the conversation become less likely. 1: no change.",
    min: 0.01,
    max: 100,
    slider: [0.8, 1.6, 0.05],
    modelDefault: ({ defaults }) => String(defaults.repetition_penalty),
    inPresets: true,
  },
  presence_penalty: {
    kind: "number",
    label: "Presence penalty",
    help: "Above 0, words that the answer has used become less likely; below 0, more likely.",
    min: -2,
    max: 2,
    slider: [-2, 2, 0.1],
    modelDefault: () => "0",
    inPresets: true,
  },
  frequency_penalty: {
    kind: "number",
    label: "Frequency penalty",
    help: "Like presence, but stronger with each use.",
    min: -2,
    max: 2,
    slider: [-2, 2, 0.1],
    modelDefault: () => "0",
    inPresets: true,
  },
  no_repeat_ngram_size: {
    kind: "integer",
    label: "No-repeat n-gram",
    help: "Forbids repeating any n-gram of this size. 0: allows all.",
    min: 0,
    max: 100,
    modelDefault: () => "the model's own",
  },
  max_tokens: {
    isFirst: true,
    section: "Length",
    kind: "integer",
    label: "Maximum answer length",
    help: "In tokens. An answer that reaches it, or the end of what the model reads, can be continued.",
    min: 1,
    max: 1_000_000,
    modelDefault: ({ contextLength }) => String(Math.min(LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2))),
  },
  stop: {
    kind: "lines",
    label: "Stop sequences",
    help: "The answer ends before any of these texts, one per line.",
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
    help: "This many answers to each question, side by side; choose the one to go on with. At temperature 0 they are the same.",
    min: 1,
    max: MAX_ANSWERS,
    modelDefault: () => "1",
  },
  beams: {
    kind: "integer",
    label: "Beams",
    help: "Searches for the likeliest answer with this many beams. Temperature, filters, seed, stop sequences and probabilities then don't count. 0: none.",
    min: 0,
    max: 16,
    modelDefault: () => "0",
  },
  answer_schema: {
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
    form: 'a schema, a JSON object such as { "type": "object" }',
    check: (root) => root.object(),
    modelDefault: () => "any text",
    isRewritten: true,
  },
  show_probabilities: {
    kind: "flag",
    label: "Show probabilities",
    help: "Shades the words of answers: the less likely, the darker. Point at one, or move there with the arrow keys, for its alternatives; click it to go on from there with one of them.",
    modelDefault: () => "off",
    notWithBeams: true,
    isRewritten: true,
  },
  priority: {
    kind: "integer",
    label: "Priority",
    help: "With the serving policy by priority, lower numbers are served first.",
    min: -1000,
    max: 1000,
    modelDefault: () => "0",
  },
  calculator: {
    section: "Tools",
    kind: "flag",
    label: "Calculator",
    help: "The model may call it: exact arithmetic. Every call of a tool waits for your click, until you trust the tool in a chat.",
    modelDefault: () => "off",
    isRewritten: true,
  },
  clock: {
    kind: "flag",
    label: "Clock",
    help: "Date, time and time zone of this machine.",
    modelDefault: () => "off",
    isRewritten: true,
  },
  search_chats: {
    kind: "flag",
    label: "Search my chats",
    help: "Finds passages of the chats in this browser. The model reads what is found: a server's, too, if it answers.",
    modelDefault: () => "off",
    isRewritten: true,
  },
  mcp_servers: {
    kind: "lines",
    label: "MCP servers",
    help: "Addresses of those that are under Connections, one per line: all of their tools.",
    maxLines: 8,
    lines: "addresses, each as Connections has it",
    isLine: (line) => URL.canParse(line.trim()),
    modelDefault: () => "none",
    isRewritten: true,
  },
  own_tools: {
    kind: "json",
    label: "Tools of your own",
    help: "A list in OpenAI's form. You type what each call returns.",
    example: JSON.stringify(
      [
        {
          type: "function",
          function: {
            name: "weather",
            description: "Tells the weather in a city.",
            parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
          },
        },
      ],
      null,
      2,
    ),
    form: "a list of tools in OpenAI's form",
    check: checkTools,
    modelDefault: () => "none",
    isRewritten: true,
  },
  tool_choice: {
    kind: "choice",
    label: "Calls",
    help: "Models that were not trained for tools call once, if they must, or always.",
    choices: ["auto", "once"],
    names: { auto: "as the model likes", once: "once before each answer" },
    modelDefault: () => "as the model likes",
    isRewritten: true,
  },
} as const satisfies Readonly<Record<string, Entry & FieldKind>>;

type Table = typeof SETTINGS;
export type SettingName = keyof Table;
export type SettingField = { readonly name: SettingName } & Entry & FieldKind;

/** A setting that is absent is inherited: a pane's from the settings for all panes, and those from the model. */
export type Settings = { readonly [Name in SettingName]?: ValueOf<Table[Name]["kind"]> };

export const SETTING_FIELDS: readonly SettingField[] = (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
  name,
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
