// JSON on one line, with ", " and ": " as separators, like Python's json.dumps.

export const COMMA = ", ";
export const COLON = ": ";

/**
 * Returns a value's JSON text. Lone surrogates are escaped.
 * @param plain writes what has no parts [as JSON does]
 */
export function jsonText(value: unknown, plain: (value: unknown) => string = JSON.stringify): string {
  if (Array.isArray(value)) return `[${value.map((one) => jsonText(one, plain)).join(COMMA)}]`;
  if (typeof value !== "object" || value === null) return plain(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}${COLON}${jsonText(one, plain)}`)
    .join(COMMA)}}`;
}
