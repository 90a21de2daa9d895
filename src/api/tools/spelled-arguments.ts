// Arguments that are spelled otherwise than as JSON: written from JSON values, and read as JSON.

import { overlap } from "../../engine/text/overlap.ts";
import { jsonText } from "../../grammar/json-text.ts";
import { AS_JSON, type Spelling } from "../../grammar/spelling.ts";
import type { GrowingText, Reading } from "./growing-text.ts";

type Say = (json: string) => void;

/** Returns an object as a model spells it whose texts have no marks. */
export function spelledText(given: object, { brackets, member, comma, words }: Spelling): string {
  const plain = (value: unknown) => words[[true, false, null].indexOf(value as null)] ?? JSON.stringify(value);
  const members = Object.entries(given).map(
    ([name, value]) => member[0] + name + member[1] + jsonText(value, plain) + member[2],
  );
  return brackets[0] + members.join(comma) + brackets[1];
}

/** Reads the rest of an object whose opening is taken. */
export function readArguments(text: GrowingText, spelling: Spelling, say: Say): Reading {
  say("{");
  return spelling.member[0] === "" ? readValue(text, spelling, say, 1) : readMembers(text, spelling, say);
}

/** Reads members between tags, whose values are texts or JSON. */
function* readMembers(text: GrowingText, { member, marked }: Spelling, say: Say): Reading {
  const [before, colon, after] = member;
  for (let i = 0; yield* text.takes(before); i++) {
    const name = yield* text.until(colon);
    say(`${i > 0 ? ", " : ""}${JSON.stringify(name)}: `);
    if (marked.includes(name)) yield* readText(text, after, say);
    else say(yield* text.until(after));
  }
  say("}");
}

/** Reads names, words, texts and brackets, which mean what they do in JSON. @param depth brackets that are open */
export function* readValue(
  text: GrowingText,
  { member: [, colon], mark, words }: Spelling,
  say: Say,
  depth = 0,
): Reading {
  do {
    while (text.held === "") yield;
    const next = text.held.charAt(0);
    if ("{[(}])".includes(next)) {
      depth += "{[(".includes(next) ? 1 : -1;
      say({ "(": "{", ")": "}" }[text.take(1)] ?? next);
    } else if (next === "," || next === ":") {
      say(`${text.take(1)} `);
      yield* text.takes(" ");
    } else if (mark !== null && mark.startsWith(next)) {
      yield* text.until(mark);
      yield* readText(text, mark, say);
    } else if (next === '"') yield* readString(text, say);
    else {
      while (/^[\w+.-]*$/.test(text.held) && !text.isWhole) yield;
      const word = text.take(/^[\w+.-]+/.exec(text.held)?.[0].length ?? 1);
      const isName = colon !== "" && (yield* text.takes(colon));
      say(isName ? `${JSON.stringify(word)}: ` : (AS_JSON.words[words.indexOf(word)] ?? word));
    }
  } while (depth > 0);
}

/** Reads a text without escapes up to what ends it. */
function* readText(text: GrowingText, end: string, say: Say): Reading {
  say('"');
  for (; ; yield) {
    const at = text.held.indexOf(end);
    const shown = text.take(at < 0 ? text.held.length - overlap(text.held, end) : at);
    if (shown !== "") say(shown.replace(/["\\\p{Cc}]/gu, (letter) => JSON.stringify(letter).slice(1, -1)));
    if (at < 0) continue;
    text.take(end.length);
    return say('"');
  }
}

function* readString(text: GrowingText, say: Say): Reading {
  say(text.take(1));
  for (; ; yield) {
    const [shown = ""] = /^(?:[^"\\]|\\.)*/s.exec(text.held) ?? [];
    if (shown !== "") say(text.take(shown.length));
    if (text.held.startsWith('"')) return say(text.take(1));
  }
}
