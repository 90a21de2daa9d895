// Limits data of others. Copying a value to another thread, JSON.stringify and templates recurse over it, and the stack
// ends at one or two thousand levels, in some threads earlier than in others. These loops check before that.

import { ChorusError } from "./errors.ts";

/** Most lists and objects within each other. */
export const MAX_LEVELS = 128;
/** Most values, and characters of texts, posted to another thread at once. A list or an object counts as several. */
const MAX_SIZE = 2 ** 24;
const OBJECT_SIZE = 16;

const TOO_DEEP = `is nested more than ${MAX_LEVELS} levels deep`;
const TOO_LARGE = `has more than ${MAX_SIZE} values and characters`;

/**
 * Parses JSON that others wrote.
 * @param maxParts most keys, lists and objects: building and copying many takes long
 * @throws SyntaxError, also for JSON that is nested too deeply or has too many parts
 */
export function parseJson(text: string, maxParts = Infinity): unknown {
  let depth = 0;
  let numParts = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') {
      at = endOfString(text, at);
    } else if (letter === "{" || letter === "[" || letter === ":") {
      if (letter !== ":" && ++depth > MAX_LEVELS) throw new SyntaxError(`It ${TOO_DEEP}.`);
      if (++numParts > maxParts) throw new SyntaxError(`It has more than ${maxParts} keys, lists and objects.`);
    } else if (letter === "}" || letter === "]") {
      depth -= 1;
    }
  }
  return JSON.parse(text);
}

function endOfString(text: string, begin: number): number {
  for (let end = text.indexOf('"', begin + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let numSlashes = 0;
    while (text[end - 1 - numSlashes] === "\\") numSlashes += 1;
    if (numSlashes % 2 === 0) return end;
  }
  return text.length;
}

/** @throws ChorusError invalid_value, with the field, for a value that must not be posted to another thread */
export function refuseUnbounded(what: string, value: unknown): void {
  const problem = problemOf(value);
  if (problem === null) return;
  const field = Object.entries(value as object).find(([, part]) => problemOf(part, 2) !== null)?.[0] ?? null;
  throw new ChorusError("invalid_value", `${field ?? what} ${problem}.`, field);
}

function problemOf(value: unknown, depth = 1): string | null {
  let size = sizeOf(value);
  let level = isObject(value) ? [value] : [];
  for (; level.length > 0; depth++) {
    if (depth > MAX_LEVELS) return TOO_DEEP;
    const next: object[] = [];
    for (const one of level) {
      for (const part of partsOf(one)) {
        size += sizeOf(part);
        if (size > MAX_SIZE) return TOO_LARGE;
        if (isObject(part)) next.push(part);
      }
    }
    level = next;
  }
  return size > MAX_SIZE ? TOO_LARGE : null;
}

function sizeOf(value: unknown): number {
  return typeof value === "string" ? value.length : isObject(value) ? OBJECT_SIZE : 1;
}

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null;
}

function partsOf(value: object): Iterable<unknown> {
  if (Array.isArray(value)) return value;
  if (value instanceof Map) return [...value.keys(), ...value.values()];
  return value instanceof Set ? value : ArrayBuffer.isView(value) ? [] : Object.values(value);
}
