// Checks settings that were typed or saved. Errors name the setting.

import { ChorusError, parseJson } from "../../../index.ts";
import { SETTING_FIELDS, withSetting, type SettingField, type Settings, type SettingValue } from "./settings.ts";

/** Resolves with the reason why a JSON schema isn't supported, or null. The check may have to be loaded first. */
export type SchemaProblem = (schema: unknown) => Promise<string | null>;

/** Returns the value as text for its box. */
export function writeSetting(value: SettingValue | undefined): string {
  if (value === undefined) return "";
  if (typeof value === "boolean") return value ? "on" : "off";
  return typeof value === "object" ? value.join("\n") : String(value);
}

/**
 * Returns the typed value; null if the box is empty.
 * @throws ChorusError invalid_value, with the field and its valid values
 */
export function readSetting(field: SettingField, typed: string): SettingValue | null {
  if (typed.trim() === "") return null;
  switch (field.kind) {
    case "text":
      return typed;
    case "json":
      return checkSetting(field, typed);
    case "flag":
      return typed === "on";
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
function checkSetting(field: SettingField, value: unknown): SettingValue {
  switch (field.kind) {
    case "text":
      if (typeof value === "string") return value;
      throw refusal(field, "a text");
    case "json":
      parseSchema(field, value);
      return String(value);
    case "flag":
      if (typeof value === "boolean") return value;
      throw refusal(field, "true or false");
    case "number": {
      const { min, max, step } = field;
      const isWhole = step === 1;
      if (typeof value === "number" && value >= min && value <= max && (!isWhole || Number.isInteger(value)))
        return value;
      throw refusal(field, `${isWhole ? "a whole number" : "a number"} from ${min} to ${max}`);
    }
    case "lines":
      if (Array.isArray(value) && value.length <= field.maxLines && value.every(isTextWith(field.isLine))) return value;
      throw refusal(field, `at most ${field.maxLines} ${field.lines}`);
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

/** @throws ChorusError invalid_value, with the parser's message */
function parseSchema(field: SettingField, text: unknown): void {
  let schema: unknown;
  try {
    schema = parseJson(String(text));
  } catch (error) {
    throw refusal(field, `JSON (${error instanceof Error ? error.message : "it can't be read"})`);
  }
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    throw refusal(field, 'a schema, a JSON object such as { "type": "object" }');
  }
}

function isTextWith(isAllowed: (text: string) => boolean) {
  return (value: unknown): boolean => typeof value === "string" && isAllowed(value);
}

function refusal({ label, name }: SettingField, expected: string): ChorusError {
  return new ChorusError("invalid_value", `${label} must be ${expected}.`, name);
}
