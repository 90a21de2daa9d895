// How tokenizers cut a text into words, each of which becomes tokens by itself. The steps are @huggingface/tokenizers'; this file
// corrects their differences from Hugging Face's own.

import {
  ByteLevelPreTokenizer,
  DigitsPreTokenizer,
  MetaspacePreTokenizer,
  SequencePreTokenizer,
  type PreTokenizer,
} from "@huggingface/tokenizers";

import { isObject } from "../protocol/json-object.ts";
import { isolated, type Step } from "./word-patterns.ts";

/**
 * Returns a pre-tokenizer whose patterns take Unicode's White_Space for \s, and which splits before spaces where Metaspace does.
 * @param last a step to add at its end
 */
export function preTokenizer(step: Step | null, last: Step | null): Step | null {
  const steps = [step && completed(step), last].filter((one) => one !== null);
  return steps.length > 1 ? { type: "Sequence", pretokenizers: steps } : (steps[0] ?? null);
}

function completed(step: Step): Step {
  const { type, pretokenizers: parts, pattern } = step;
  if (Array.isArray(parts)) {
    return { ...step, pretokenizers: parts.map((part: unknown) => (isObject(part) ? completed(part) : part)) };
  }
  if (type === "Metaspace" && step["split"] !== false) {
    return { type: "Sequence", pretokenizers: [step, isolated("▁[^▁]*|[^▁]+")] };
  }
  if (!isObject(pattern) || typeof pattern["Regex"] !== "string") return step;
  return { ...step, pattern: { ...pattern, Regex: withUnicodeSpaces(pattern["Regex"]) } };
}

/**
 * Returns a step that cuts before each "▁" that no token contains after the same character. No merge crosses such a place,
 * so the tokens stay the same. Without it a whole text is one word: its merges share one queue, and none is cached.
 */
export function betweenPieces(vocab: Readonly<Record<string, number>>): Step {
  const before = new Set<string>();
  for (const token of Object.keys(vocab)) {
    for (let i = token.indexOf("▁", 1); i > 0; i = token.indexOf("▁", i + 1)) {
      before.add(Array.from(token.slice(Math.max(0, i - 2), i)).at(-1) ?? "");
    }
  }
  const codes = Array.from(before, (character) => `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`);
  return isolated(codes.length === 0 ? "(?=▁)" : `(?<![${codes.join("")}])(?=▁)`);
}

/** Returns the pattern with Unicode's White_Space for \s, as Hugging Face's patterns mean it; JavaScript's \s differs. */
function withUnicodeSpaces(pattern: string): string {
  return pattern.replaceAll("\\s", "\\p{White_Space}").replaceAll("\\S", "\\P{White_Space}");
}

/**
 * GPT-2's pattern of words. Hugging Face's white space is Unicode's White_Space. The library's pattern has \s, which in
 * JavaScript includes U+FEFF and lacks U+0085.
 */
const WORDS =
  /'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\p{White_Space}\p{L}\p{N}]+|\p{White_Space}+(?!\P{White_Space})|\p{White_Space}+/gu;

/** Like WORDS: the library's digits are ASCII's, Hugging Face's are all that Unicode calls numbers. */
const DIGITS = { one: /\P{N}+|\p{N}/gu, several: /\P{N}+|\p{N}+/gu };

export function setPatterns(step: PreTokenizer): void {
  if (step instanceof ByteLevelPreTokenizer) step.pattern = WORDS;
  if (step instanceof DigitsPreTokenizer)
    step.pattern = step.pattern.source.endsWith("+") ? DIGITS.several : DIGITS.one;
  if (step instanceof SequencePreTokenizer) for (const part of step.tokenizers) if (part) setPatterns(part);
}

/** Returns the steps that put a space before a text's first word only. */
export function prefixingSteps(step: PreTokenizer | null): MetaspacePreTokenizer[] {
  if (step instanceof SequencePreTokenizer) return step.tokenizers.flatMap(prefixingSteps);
  return step instanceof MetaspacePreTokenizer && step.prepend_scheme === "first" ? [step] : [];
}
