// Reads what a server sent: what is no object has no fields, what is no list is empty, and what is no text is "".

export type SentFields = Readonly<Record<string, unknown>>;

export function fieldsOf(value: unknown): SentFields {
  return typeof value === "object" && value !== null ? (value as SentFields) : {};
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
