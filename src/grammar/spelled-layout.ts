// The layout of objects that a model writes otherwise than as JSON.

import { Automaton } from "./automaton.ts";
import { charSetOf, complement, intersection, normalized } from "./char-set.ts";
import { character, IMPOSSIBLE, NOTHING, sequence, text, type Expression } from "./expression.ts";
import { ANY_TEXT, ONE_LINE, type Layout, type Quotes } from "./json-layout.ts";
import type { Sign, Spelling } from "./spelling.ts";

const LETTERS = normalized([[0x2d, 0x2e], ...charSetOf("_"), [0x30, 0x39], [0x41, 0x5a], [0x61, 0x7a]]);

const BARE: Quotes = {
  mark: NOTHING,
  text: (value) => (/^[\w.-]+$/.test(value) ? text(value) : IMPOSSIBLE),
  character: (set) => character(intersection(set, LETTERS)),
};

export function spelledLayout(spelling: Spelling, signs: readonly Sign[]): Layout {
  const { brackets, member, comma, mark, end, isDeep, marked } = spelling;
  const write = (value: string) => sequence(...value.split(/([\ufdd0-\ufdef])/).map(part));
  const part = (value: string): Expression => {
    const id = signs.find(([, sign]) => sign === value)?.[0];
    return id === undefined ? text(value) : { kind: "token", id };
  };
  const texts = markedTexts(write(mark ?? ""), signs.some(([, sign]) => sign === end) ? "" : end);
  const word = (value: boolean | null) => spelling.words[value === null ? 2 : Number(!value)] ?? "";
  const json: Layout = { ...ONE_LINE, name: "json", word };
  const withMarks: Layout = { ...json, name: "marked", texts };
  return {
    ...ONE_LINE,
    name: "spelled",
    comma: write(comma),
    colon: write(member[1]),
    brackets: [write(brackets[0]), write(brackets[1])],
    member: [write(member[0]), write(member[2])],
    names: BARE,
    texts: mark === null ? ONE_LINE.texts : texts,
    word,
    inside(name) {
      if (isDeep) return this;
      return mark !== null && name !== null && marked.includes(name) ? withMarks : json;
    },
  };
}

/** Any text can be written that has not `end` in it; where texts are restricted, also none with its first character. */
function markedTexts(mark: Expression, end: string): Quotes {
  if (end === "") return { mark, text, character, any: ANY_TEXT };
  const ended = Automaton.of(sequence(ANY_TEXT, text(end), ANY_TEXT));
  const others = complement(charSetOf(end.charAt(0)));
  return {
    mark,
    text: (value) => (value.includes(end) ? IMPOSSIBLE : text(value)),
    character: (set) => character(intersection(set, others)),
    any: Automaton.inAll([Automaton.of(ANY_TEXT)], [ended]).expression,
  };
}
