// Values of fields as text, for the forms.

import type { Field, FieldValue } from "./field.ts";

/** Returns the options of a field; null if its value is typed. */
export function optionsOf(field: Field): readonly (readonly [value: string, name: string])[] | null {
  if (field.kind === "choice")
    return field.choices.map((choice) => [choice, field.names?.[choice] ?? capitalised(choice)]);
  if (field.kind !== "flag") return null;
  return [
    ["true", "on"],
    ["false", "off"],
  ];
}

const capitalised = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

/** Returns the value as text for its box. */
export function writeField(value: FieldValue | undefined): string {
  return typeof value === "object" ? value.join("\n") : String(value ?? "");
}

export function describeValue(field: Field, value: FieldValue): string {
  const text = writeField(value);
  return optionsOf(field)?.find(([option]) => option === text)?.[1] ?? text;
}
