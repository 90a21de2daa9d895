// Ways to write JSON. White space is allowed only where a request has it, since a weak model would write it for ever.

import { ANY_CHARACTER, charSetOf, complement, intersection, normalized, union, type CharSet } from "./char-set.ts";
import {
  character,
  choice,
  IMPOSSIBLE,
  NOTHING,
  repeat,
  replacing,
  sequence,
  text,
  type Expression,
} from "./expression.ts";
import { COLON, COMMA, jsonText } from "./json-text.ts";

/** How texts are written. */
export interface Quotes {
  readonly mark: Expression;
  text(value: string): Expression;
  character(set: CharSet): Expression;
  /** Any text. [any number of any characters] */
  readonly any?: Expression;
}

/** How values are written. */
export interface Layout {
  /** Tells it apart. */
  readonly name: string;
  readonly comma: Expression;
  readonly colon: Expression;
  /** Within brackets, at both ends. */
  readonly space: Expression;
  /** Around an object, and around each of its members. */
  readonly brackets: readonly [open: Expression, close: Expression];
  readonly member: readonly [before: Expression, after: Expression];
  readonly names: Quotes;
  readonly texts: Quotes;
  /** Writes true, false or null. */
  word(value: boolean | null): string;
  /** Returns the layout of an object's member; null: another name, too. */
  inside(name: string | null): Layout;
}

const CONTROL = normalized([[0, 0x1f]]);
const ESCAPED = union(CONTROL, charSetOf('"\\'));

const PLAIN_CHARACTER: CharSet = complement(ESCAPED);

const ANY_ESCAPE = choice(...escapesOf(ESCAPED));

/** Returns one character of a set as it stands in a JSON string: as itself if possible, else with its one escape. */
function jsonCharacter(set: CharSet): Expression {
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

const JSON_QUOTES: Quotes = {
  mark: text('"'),
  text: (value) => text(JSON.stringify(value).slice(1, -1)),
  character: (set) => (set === ANY_CHARACTER ? ANY_JSON_CHARACTER : jsonCharacter(set)),
};

export const ONE_LINE: Layout = {
  name: "",
  comma: text(COMMA),
  colon: text(COLON),
  space: NOTHING,
  brackets: [text("{"), text("}")],
  member: [NOTHING, NOTHING],
  names: JSON_QUOTES,
  texts: JSON_QUOTES,
  word: String,
  inside() {
    return this;
  },
};

export function spaced(space: Expression): Layout {
  return { ...ONE_LINE, comma: sequence(space, text(","), space), colon: sequence(space, text(":"), space), space };
}

/** Returns a text between quotes that matches the expression. */
export function quoted(content: Expression, quotes: Quotes): Expression {
  const spelled = replacing((leaf) => {
    if (leaf.kind === "text") return quotes.text(leaf.text);
    return leaf.kind === "character" ? quotes.character(leaf.set) : leaf;
  });
  const any = content === ANY_TEXT ? quotes.any : undefined;
  return sequence(quotes.mark, any ?? spelled(content), quotes.mark);
}

export function written(value: unknown, layout: Layout): Expression {
  if (layout.name === ONE_LINE.name) return text(jsonText(value));
  if (typeof value === "string") return quoted(text(value), layout.texts);
  if (typeof value === "boolean" || value === null) return text(layout.word(value));
  if (!Array.isArray(value) && typeof value !== "object") return text(jsonText(value));
  const { comma, colon, brackets, member, names } = layout;
  const list = (parts: readonly Expression[]) => parts.flatMap((part, i) => (i > 0 ? [comma, part] : [part]));
  if (Array.isArray(value)) return sequence(text("["), ...list(value.map((one) => written(one, layout))), text("]"));
  const members = Object.entries(value).map(([name, one]) =>
    sequence(member[0], quoted(text(name), names), colon, written(one, layout.inside(name)), member[1]),
  );
  return sequence(brackets[0], ...list(members), brackets[1]);
}

/** Returns what may follow in a list behind so many parts. @param part null: no more @param least fewest in the list */
export function furtherOf(
  part: Expression | null,
  comma: Expression,
  count: number,
  least: number,
  most: number,
): Expression {
  const [min, max] = [Math.max(0, least - count), most - count];
  if (part === null || max <= 0) return min > 0 ? IMPOSSIBLE : NOTHING;
  const further = sequence(comma, part);
  if (count > 0) return repeat(further, min, max);
  const some = sequence(part, repeat(further, Math.max(0, min - 1), max - 1));
  return min > 0 ? some : choice(NOTHING, some);
}

export const ANY_TEXT: Expression = repeat(character(ANY_CHARACTER), 0, Infinity);
