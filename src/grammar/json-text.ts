// JSON on one line, with ", " and ": " as separators, like Python's json.dumps. Other white space is allowed only where a
// request has it, since a weak model would write it for ever.

import { ANY_CHARACTER, charSetOf, complement, intersection, normalized, union, type CharSet } from "./char-set.ts";
import { character, choice, NOTHING, repeat, sequence, text, type Expression } from "./expression.ts";

const COMMA = ", ";
const COLON = ": ";

/** What stands between values. */
export interface Layout {
  readonly comma: Expression;
  readonly colon: Expression;
  /** Within brackets, at both ends. */
  readonly space: Expression;
}

export const ONE_LINE: Layout = { comma: text(COMMA), colon: text(COLON), space: NOTHING };

export function spaced(space: Expression): Layout {
  return { comma: sequence(space, text(","), space), colon: sequence(space, text(":"), space), space };
}

const CONTROL = normalized([[0, 0x1f]]);
const ESCAPED = union(CONTROL, charSetOf('"\\'));

/** Characters that need no escape in a string. */
const PLAIN_CHARACTER: CharSet = complement(ESCAPED);

const ANY_ESCAPE = choice(...escapesOf(ESCAPED));

/** Returns a value's JSON text. Lone surrogates are escaped. */
export function jsonText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(jsonText).join(COMMA)}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, one]) => `${JSON.stringify(name)}${COLON}${jsonText(one)}`)
    .join(COMMA)}}`;
}

/** Returns one character of a set as it stands in a JSON string: as itself if possible, else with its one escape. */
export function jsonCharacter(set: CharSet): Expression {
  const plain = intersection(set, PLAIN_CHARACTER);
  const escaped = intersection(set, ESCAPED);
  const escapes = escaped.join() === ESCAPED.join() ? [ANY_ESCAPE] : escapesOf(escaped);
  return choice(...(plain.length > 0 ? [character(plain)] : []), ...escapes);
}

function escapesOf(set: CharSet): Expression[] {
  return set.flatMap(([first, last]) =>
    Array.from({ length: last - first + 1 }, (_, i) =>
      text(JSON.stringify(String.fromCharCode(first + i)).slice(1, -1)),
    ),
  );
}

/** Any character of a JSON string. */
export const ANY_JSON_CHARACTER = jsonCharacter(ANY_CHARACTER);

/** Turns an expression for a text into one for that text inside a JSON string. */
function inJsonString(expression: Expression): Expression {
  switch (expression.kind) {
    case "text":
      return text(JSON.stringify(expression.text).slice(1, -1));
    case "character":
      return expression.set === ANY_CHARACTER ? ANY_JSON_CHARACTER : jsonCharacter(expression.set);
    case "sequence":
      return sequence(...expression.parts.map(inJsonString));
    case "choice":
      return choice(...expression.options.map(inJsonString));
    case "repeat":
      return repeat(inJsonString(expression.of), expression.min, expression.max);
    case "rule":
    case "states":
    case "token":
      return expression;
  }
}

/** Returns a JSON string whose text matches the expression. */
export function jsonString(content: Expression): Expression {
  return sequence(text('"'), inJsonString(content), text('"'));
}

export const ANY_TEXT: Expression = repeat(character(ANY_CHARACTER), 0, Infinity);
