// Patterns that cut texts into words, apart from the library that runs them.

/** A step of tokenizer.json. */
export type Step = Readonly<Record<string, unknown>>;

/** Returns a step that cuts a text into what a pattern matches, and the rest. */
export function isolated(pattern: string): Step {
  return { type: "Split", pattern: { Regex: pattern }, behavior: "Isolated", invert: false };
}

/**
 * Returns the pattern of words of Llama 3 and Qwen.
 * @param letters within brackets
 */
export function wordsWith(number: string, letters = "\\p{L}"): string {
  const others = `| ?[^\\s${letters}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+`;
  return `(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[${letters}]+|${number}${others}`;
}
