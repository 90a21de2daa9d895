// A tokenizer's patterns come with a model, so anyone may have written them. JavaScript can't stop a pattern that backtracks
// for ever, so such a pattern is refused before it runs.

import { brief, unsupportedFile } from "./json-fields.ts";
import { isObject } from "../protocol/json-object.ts";

/** @throws ChorusError model_unsupported for a normalizer or pre-tokenizer with a pattern that may take for ever */
export function refuseEndlessPatterns(step: unknown, file: string): void {
  if (Array.isArray(step)) for (const part of step) refuseEndlessPatterns(part, file);
  if (!isObject(step)) return;
  for (const [name, value] of Object.entries(step)) {
    if (name !== "Regex" || typeof value !== "string") {
      refuseEndlessPatterns(value, file);
    } else if (repeatsWhatVaries(value)) {
      const why = "it repeats a part that matches one text in several ways, which can take for ever";
      throw unsupportedFile(file, `This model's tokenizer has the pattern ${brief(value)}: ${why}.`);
    }
  }
}

/** An atom: an escape, a class, the beginning of a group, or any other character; then its quantifier. */
const ATOMS =
  /(\\[pPuxk]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[a-z-]*:|[=!>]|<[=!]|<\w+>))?|[^])([*+?]|\{\d+(?:,\d*)?\})?/gu;

/**
 * Returns whether a repeated group contains an optional, repeated or alternative part: then the number of ways to match a
 * text may double with each of its characters.
 */
export function repeatsWhatVaries(pattern: string): boolean {
  /** For each open group, the whole pattern first, whether it can match texts in more than one way. */
  const varies = [false];
  for (const [, atom = "", quantifier = ""] of pattern.matchAll(ATOMS)) {
    if (atom.startsWith("(")) {
      varies.push(false);
      continue;
    }
    if (atom === ")") {
      const inner = varies.pop() ?? false;
      if (inner && repeats(quantifier)) return true;
      if (inner && varies.length > 0) varies[varies.length - 1] = true;
    }
    const isVariable = atom === "|" || (quantifier !== "" && !/^\{\d+\}$/.test(quantifier));
    if (isVariable) varies[Math.max(0, varies.length - 1)] = true;
  }
  return false;
}

/** Whether a quantifier allows more than one time. */
function repeats(quantifier: string): boolean {
  if (quantifier === "" || quantifier === "?") return false;
  const [, least = "", most = least] = /^\{(\d+)(?:,(\d*))?\}$/.exec(quantifier) ?? [];
  return least === "" || most === "" || Number(most) > 1;
}
