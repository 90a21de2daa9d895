// A field of a form, as tables list them: what it is called, what it allows, and how its value is typed, checked and written.

import { ChorusError, parseJson, toErrorData } from "../../../index.ts";
import type { Read } from "../read-record.ts";

export type Field = { readonly name: string } & FieldWords & FieldKind;

export interface FieldWords {
  readonly label: string;
  /** Shown beside the label. */
  readonly unit?: string;
  /** Its name in errors. [its label] */
  readonly errorName?: string;
  /** Each choice's name. [the choice, capitalised] */
  readonly names?: Readonly<Record<string, string>>;
  /** Whether "off" is a value of a number, too. */
  readonly hasOff?: true;
}

/** `text`: one line, or `isLong`. `lines`: a list of strings, one per line. `json`: JSON as text, which `check` reads. */
export type FieldKind =
  | {
      readonly kind: "integer" | "number";
      readonly min: number;
      readonly max: number;
      /** Whether `min` itself is not allowed. */
      readonly above?: boolean;
      /** The useful part of the range, and its steps. Any other value can be typed. */
      readonly slider?: readonly [min: number, max: number, step: number];
    }
  | { readonly kind: "choice"; readonly choices: readonly string[] }
  | { readonly kind: "flag" }
  | { readonly kind: "text"; readonly isLong?: true }
  | {
      readonly kind: "lines";
      readonly maxLines: number;
      /** The form of each line, in words. */
      readonly lines: string;
      readonly isLine: (line: string) => boolean;
    }
  | {
      readonly kind: "json";
      /** Its form in words. */
      readonly form: string;
      /** @throws ChorusError that names the first wrong place */
      readonly check: Read<unknown>;
    };

export type FieldValue = string | number | boolean | readonly string[];

export type ValueOf<Kind> = Kind extends "integer" | "number"
  ? number
  : Kind extends "flag"
    ? boolean
    : Kind extends "lines"
      ? readonly string[]
      : string;

/** The value of a field that is switched off. */
export const OFF = "off";

/** Returns the typed value; null if the box is empty. @throws ChorusError like checkField */
export function readField(field: Field, typed: string): FieldValue | null {
  return typed.trim() === "" ? null : checkField(field, valueIn(field, typed));
}

function valueIn(field: Field, typed: string): unknown {
  const text = typed.trim();
  switch (field.kind) {
    case "integer":
    case "number":
      return text === OFF ? text : Number(text);
    case "flag":
      return text === "true" || (text === "false" ? false : text);
    case "lines":
      return typed.split("\n").filter((line) => line !== "");
    case "text":
      return field.isLong ? typed : text;
    case "choice":
      return text;
    case "json":
      return typed;
  }
}

/** @throws ChorusError invalid_value, with the field and its valid values */
function checkField(field: Field, value: unknown): FieldValue {
  const expected = faultOf(field, value);
  if (expected !== null) throw refusal(field, expected);
  return value as FieldValue;
}

/** Returns what the value must be; null if it is. */
function faultOf(field: Field, value: unknown): string | null {
  switch (field.kind) {
    case "integer":
    case "number": {
      const { kind, min, max, above = false, hasOff = false } = field;
      const isInRange = typeof value === "number" && value >= min && value <= max && !(above && value === min);
      if ((isInRange && (kind === "number" || Number.isInteger(value))) || (hasOff && value === OFF)) return null;
      const range = above ? `above ${min}, at most ${max}` : `from ${min} to ${max}`;
      return `${kind === "integer" ? "a whole number" : "a number"} ${range}${hasOff ? ", or off" : ""}`;
    }
    case "choice":
      return field.choices.some((choice) => choice === value) ? null : `one of ${field.choices.join(", ")}`;
    case "flag":
      return typeof value === "boolean" ? null : "true or false";
    case "text":
      if (typeof value === "string" && (field.isLong || value.trim() !== "")) return null;
      return field.isLong ? "a text" : "a text that is not empty";
    case "lines": {
      const isLine = (line: unknown) => typeof line === "string" && field.isLine(line);
      const isList = Array.isArray(value) && value.length <= field.maxLines && value.every(isLine);
      return isList ? null : `at most ${field.maxLines} ${field.lines}`;
    }
    case "json":
      return faultOfJson(field, value);
  }
}

/** The parser's message, or the wrong place. */
function faultOfJson({ form, check }: Field & { readonly kind: "json" }, text: unknown): string | null {
  let value: unknown;
  try {
    value = parseJson(String(text));
  } catch (error) {
    return `JSON (${error instanceof Error ? error.message : "it can't be read"})`;
  }
  try {
    check(value, "");
    return null;
  } catch (error) {
    const { param, message } = toErrorData(error);
    return param === null ? form : `${form}: ${message.replace(/\.$/, "")}`;
  }
}

/**
 * Returns the values in the table's order, without those that are undefined.
 * @param what what such a field is called: "setting"
 * @throws ChorusError unknown_parameter or invalid_value, naming the field
 */
export function checkFields(fields: readonly Field[], values: object, what: string): Record<string, FieldValue> {
  const given = new Map<string, unknown>(Object.entries(values));
  for (const name of given.keys()) {
    if (fields.some((field) => field.name === name)) continue;
    throw new ChorusError("unknown_parameter", `There is no ${what} "${name}".`, name);
  }
  const isGiven = ({ name }: Field) => given.get(name) !== undefined;
  return Object.fromEntries(
    fields.filter(isGiven).map((field) => [field.name, checkField(field, given.get(field.name))]),
  );
}

export function refusal({ label, errorName = label, name }: Field, expected: string): ChorusError {
  return new ChorusError("invalid_value", `${errorName} must be ${expected}.`, name);
}
