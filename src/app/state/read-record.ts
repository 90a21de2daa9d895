// Readers of untrusted plain data. Every error names the place: "panes[2].turns[0].answer".

import { ChorusError } from "../../index.ts";

/** Returns the value if it has this form, without unknown fields. @throws ChorusError that names the first wrong place */
export type Read<Value> = (value: unknown, path: string) => Value;

export type Fields = Readonly<Record<string, Read<unknown>>>;

type Optional<F extends Fields> = { [Name in keyof F]: undefined extends ReturnType<F[Name]> ? Name : never }[keyof F];

/** What recordOf reads: fields that may be undefined may be missing. */
export type RecordOf<F extends Fields> = { readonly [Name in Exclude<keyof F, Optional<F>>]: ReturnType<F[Name]> } & {
  readonly [Name in Optional<F>]?: Exclude<ReturnType<F[Name]>, undefined>;
};

export const anything: Read<unknown> = (value) => value;

export const text: Read<string> = (value, path) => {
  if (typeof value === "string") return value;
  throw wrong(value, path, "a text");
};

export function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export const anyObject: Read<object> = (value, path) => {
  if (isObject(value)) return value;
  throw wrong(value, path, "an object");
};

export function wholeNumber(from: number, to: number): Read<number> {
  return (value, path) => {
    if (typeof value === "number" && Number.isInteger(value) && value >= from && value <= to) return value;
    throw wrong(value, path, `a whole number from ${from} to ${to}`);
  };
}

export function oneOf<Value extends string | number>(...values: readonly Value[]): Read<Value> {
  return (value, path) => {
    const found = values.find((one) => one === value);
    if (found !== undefined) return found;
    throw wrong(value, path, values.map((one) => JSON.stringify(one)).join(" or "));
  };
}

export function orNull<Value>(read: Read<Value>): Read<Value | null> {
  return (value, path) => (value === null ? null : read(value, path));
}

export function optional<Value>(read: Read<Value>): Read<Value | undefined> {
  return (value, path) => (value === undefined ? undefined : read(value, path));
}

export function listOf<Value>(read: Read<Value>): Read<readonly Value[]> {
  return (value, path) => {
    if (!Array.isArray(value)) throw wrong(value, path, "a list");
    return value.map((item, index) => read(item, `${path}[${index}]`));
  };
}

export function recordOf<F extends Fields>(fields: F): Read<RecordOf<F>> {
  return (value, path) => {
    const given: Readonly<Record<string, unknown>> = { ...anyObject(value, path) };
    const read = Object.entries(fields).map(([name, readOne]) => {
      return [name, readOne(given[name], placeOf(path, name))] as const;
    });
    return Object.fromEntries(read.filter(([, one]) => one !== undefined)) as RecordOf<F>;
  };
}

export function placeOf(path: string, name: string): string {
  return path === "" ? name : `${path}.${name}`;
}

export function wrong(value: unknown, path: string, expected: string): ChorusError {
  const where = path || "The whole";
  if (value === undefined) return new ChorusError("missing_required_parameter", `${where} is missing.`, path || null);
  return new ChorusError("invalid_type", `${where} must be ${expected}.`, path || null);
}
