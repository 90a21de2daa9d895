import { ChorusError } from "../protocol/errors.ts";
import type { AnswerWarning } from "../protocol/openai.ts";

interface PlacedKeyword {
  readonly node: { readonly object: Readonly<Record<string, unknown>>; readonly path: string };
  readonly keyword: string;
}

/** Says that a grammar can't hold a keyword. */
export class NotHeld extends ChorusError {
  /** What a lenient schema goes without: all values that were valid must stay valid. */
  readonly place: PlacedKeyword;

  constructor(code: "invalid_value" | "unsupported_parameter", message: string, param: string, place: PlacedKeyword) {
    super(code, message, param);
    this.place = place;
  }
}

/** In a lenient schema: the keywords that it goes without. No other keyword begins so. */
export const LEFT_OUT = "\0leftOut";

/** Takes a keyword out of its schema. Returns a warning for each keyword that was still there. */
export function leaveOut({ place: { node, keyword }, message }: NotHeld): readonly AnswerWarning[] {
  const schema = node.object as Record<string, unknown>;
  const known = (schema[LEFT_OUT] ?? []) as readonly string[];
  if (known.includes(keyword) || !Object.hasOwn(schema, keyword)) return [];
  schema[LEFT_OUT] = [...known, keyword];
  // What is left of oneOf is an anyOf.
  if (keyword !== "oneOf") delete schema[keyword];
  const warning: AnswerWarning = { code: "keyword_left_out", param: `${node.path}.${keyword}`, keyword, message };
  if (keyword !== "patternProperties") return [warning];
  // Without the patterns, the names that match them would be additional ones.
  const place = { node, keyword: "additionalProperties" };
  const reason = `${node.path}.additionalProperties needs patternProperties, which is left out.`;
  return [warning, ...leaveOut(new NotHeld("unsupported_parameter", reason, node.path, place))];
}
