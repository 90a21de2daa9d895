// Which steps of a tokenizer are known to take time in proportion to the text, and not to blow it up.

import { isObject } from "./json-fields.ts";
import { withUnicodeSpaces } from "./unicode-spaces.ts";

/** Patterns of words of Llama 3 and of Qwen 2, which most models have. */
const KNOWN_PATTERNS = [
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}{1,3}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
  "(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?\\p{L}+|\\p{N}| ?[^\\s\\p{L}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+",
].flatMap((pattern) => [pattern, withUnicodeSpaces(pattern)]);

const KNOWN_TYPES = ["ByteLevel", "Digits", "Metaspace", "Split", "Replace", "Prepend", "NFC", "NFD", "NFKC", "NFKD"];
/** Steps that may write text, and how long it may be. */
const MOST_WRITING_STEPS = 4;
const MOST_WRITTEN = 4;

/** Returns whether a normalizer and a pre-tokenizer, as tokenizer.json has them, are known to be quick. */
export function areKnownToBeQuick(...steps: readonly unknown[]): boolean {
  const each = steps.flatMap(partsOf);
  const written = each.flatMap(({ type, content, prepend }) =>
    type === "Replace" || type === "Prepend" ? [content ?? prepend] : [],
  );
  return (
    each.every(({ type, pattern }) => KNOWN_TYPES.some((known) => known === type) && isKnownPattern(pattern)) &&
    written.length <= MOST_WRITING_STEPS &&
    written.every((text) => typeof text === "string" && text.length <= MOST_WRITTEN)
  );
}

function partsOf(step: unknown): Record<string, unknown>[] {
  if (!isObject(step)) return [];
  const parts = step["pretokenizers"] ?? step["normalizers"];
  return step["type"] === "Sequence" && Array.isArray(parts) ? parts.flatMap(partsOf) : [step];
}

function isKnownPattern(pattern: unknown): boolean {
  if (!isObject(pattern)) return true;
  const { Regex, String: text } = pattern;
  if (Regex !== undefined) return KNOWN_PATTERNS.some((known) => known === Regex);
  return typeof text === "string" && text !== "";
}
