// What a person can set of how questions are sent. A setting that is absent is inherited: a pane's from what is set for
// all panes, that from the model.

import { ChorusError } from "../protocol/errors.ts";
import type { GenerationFields } from "../protocol/openai.ts";
import type { ModelCard } from "../protocol/reports.ts";

type NumberName =
  | "temperature"
  | "top_p"
  | "top_k"
  | "min_p"
  | "repetition_penalty"
  | "presence_penalty"
  | "frequency_penalty"
  | "max_tokens"
  | "seed";

export type Settings = {
  /** The system prompt. */
  readonly system?: string;
  readonly stop?: readonly string[];
} & { readonly [Name in NumberName]?: number };

export type SettingName = keyof Settings;
export type SettingValue = string | number | readonly string[];

interface FieldOf<Kind extends string> {
  readonly kind: Kind;
  readonly label: string;
  /** What it does, in a sentence or two. */
  readonly help: string;
  /** What counts where nothing is set, in words. */
  readonly modelDefault: (model: ModelCard) => string;
}

interface NumberField extends FieldOf<"number"> {
  readonly name: NumberName;
  readonly min: number;
  readonly max: number;
  /** 1: whole numbers only. */
  readonly step: number;
}

/** `text`: any. `lines`: a list of strings, written one a line. */
export type SettingField =
  | NumberField
  | (FieldOf<"text"> & { readonly name: "system" })
  | (FieldOf<"lines"> & { readonly name: "stop"; readonly maxLines: number });

// Long enough for a chat's answer, and at most half of the context, so that there is room for what went before.
const LONGEST_ANSWER_TOKENS = 256;

export function defaultMaxTokens({ contextLength }: Pick<ModelCard, "contextLength">): number {
  return Math.min(LONGEST_ANSWER_TOKENS, Math.floor(contextLength / 2));
}

/** In the order in which they are shown. A setting is one entry here and its name in `Settings`. */
export const SETTING_FIELDS: readonly SettingField[] = [
  {
    name: "system",
    kind: "text",
    label: "System prompt",
    help: "Said to the model before the conversation: who it is to be, how it is to answer.",
    modelDefault: () => "none",
  },
  {
    name: "temperature",
    kind: "number",
    label: "Temperature",
    help: "0 always takes the likeliest word; higher values dare more.",
    min: 0,
    max: 2,
    step: 0.05,
    modelDefault: ({ defaults }) => String(defaults.temperature),
  },
  {
    name: "top_p",
    kind: "number",
    label: "Top p",
    help: "Draws from the likeliest words that together have this share. 1 is all.",
    min: 0.01,
    max: 1,
    step: 0.01,
    modelDefault: ({ defaults }) => String(defaults.top_p),
  },
  {
    name: "top_k",
    kind: "number",
    label: "Top k",
    help: "Draws from so many of the likeliest words. 0 is all.",
    min: 0,
    max: 1_000_000,
    step: 1,
    modelDefault: ({ defaults }) => String(defaults.top_k),
  },
  {
    name: "min_p",
    kind: "number",
    label: "Min p",
    help: "Leaves out words that are less than this share as likely as the likeliest. 0 leaves out none.",
    min: 0,
    max: 1,
    step: 0.01,
    modelDefault: ({ defaults }) => String(defaults.min_p),
  },
  {
    name: "repetition_penalty",
    kind: "number",
    label: "Repetition penalty",
    help: "Above 1, words of the conversation come less easily again. 1 changes nothing.",
    min: 0.01,
    max: 100,
    step: 0.05,
    modelDefault: ({ defaults }) => String(defaults.repetition_penalty),
  },
  {
    name: "presence_penalty",
    kind: "number",
    label: "Presence penalty",
    help: "Above 0, words that the answer has used come less easily; below 0, more easily.",
    min: -2,
    max: 2,
    step: 0.1,
    modelDefault: () => "0",
  },
  {
    name: "frequency_penalty",
    kind: "number",
    label: "Frequency penalty",
    help: "The same, more with each time that a word was used.",
    min: -2,
    max: 2,
    step: 0.1,
    modelDefault: () => "0",
  },
  {
    name: "max_tokens",
    kind: "number",
    label: "Longest answer",
    help: "In tokens. An answer that reaches it can be continued.",
    min: 1,
    max: 1_000_000,
    step: 1,
    modelDefault: (model) => String(defaultMaxTokens(model)),
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
    name: "stop",
    kind: "lines",
    label: "Stop at",
    help: "The answer ends before any of these texts, one a line.",
    maxLines: 16,
    modelDefault: () => "none",
  },
];

/** `settings` with one of them set, or inherited where `value` is null. */
export function withSetting(settings: Settings, name: SettingName, value: SettingValue | null): Settings {
  const others = Object.entries(settings).filter(([other]) => other !== name);
  return Object.fromEntries(value === null ? others : [...others, [name, value]]);
}

/** The value as it stands in its box. */
export function writeSetting(value: SettingValue | undefined): string {
  if (value === undefined) return "";
  return typeof value === "object" ? value.join("\n") : String(value);
}

/**
 * What was typed, as a value; null where the box is empty.
 * @throws ChorusError invalid_value, naming the field: what was given and what would do
 */
export function readSetting(field: SettingField, typed: string): SettingValue | null {
  if (typed.trim() === "") return null;
  switch (field.kind) {
    case "text":
      return typed;
    case "number":
      return checkSetting(field, Number(typed));
    case "lines":
      return checkSetting(
        field,
        typed.split("\n").filter((line) => line !== ""),
      );
  }
}

/** @throws ChorusError invalid_value, naming the field */
export function checkSetting(field: SettingField, value: unknown): SettingValue {
  switch (field.kind) {
    case "text":
      if (typeof value === "string") return value;
      throw refusal(field, "a text");
    case "number": {
      const { min, max, step } = field;
      const isWhole = step === 1;
      if (typeof value === "number" && value >= min && value <= max && (!isWhole || Number.isInteger(value)))
        return value;
      throw refusal(field, `${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`);
    }
    case "lines":
      if (Array.isArray(value) && value.length <= field.maxLines && value.every(isText)) return value;
      throw refusal(field, `at most ${field.maxLines} texts that are not empty`);
  }
}

/** @throws ChorusError unknown_parameter or invalid_value, naming the field */
export function checkSettings(value: object): Settings {
  let settings: Settings = {};
  for (const [name, given] of Object.entries(value)) {
    const field = SETTING_FIELDS.find((one) => one.name === name);
    if (!field) throw new ChorusError("unknown_parameter", `There is no setting "${name}" here.`, name);
    settings = withSetting(settings, field.name, checkSetting(field, given));
  }
  return settings;
}

type RequestFields = Pick<GenerationFields, Exclude<NumberName, "max_tokens">> & {
  max_tokens?: number;
  stop?: string[];
};

/** The settings as fields of a request; the system prompt is a message instead. */
export function requestFields(settings: Settings): RequestFields {
  const fields = Object.entries(settings).filter(([name]) => name !== "system");
  return Object.fromEntries(fields) as RequestFields;
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

function refusal({ label, name }: SettingField, expected: string): ChorusError {
  return new ChorusError("invalid_value", `${label} must be ${expected}.`, name);
}
