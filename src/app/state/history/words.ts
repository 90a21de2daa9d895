/** Longer ones are cut: they are not words but data. */
const MAX_LENGTH = 40;

/** Characters of scripts that put no spaces between words. Each is a word of its own. */
const WORDS =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]|[\p{L}\p{N}]+/gu;

/** Returns the different words of a text, in small letters and without accents. */
export function wordsOf(text: string): Set<string> {
  const plain = text.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return new Set(Array.from(plain.matchAll(WORDS), ([word]) => word.slice(0, MAX_LENGTH)));
}

/** Returns the words of a text for `hasWords`. */
export function foldedWords(text: string): string {
  return ` ${[...wordsOf(text)].join(" ")} `;
}

/** Returns whether each word of the query begins one of the words. A single letter must be a whole one. */
export function hasWords(words: string, query: ReadonlySet<string>): boolean {
  return [...query].every((word) => words.includes(word.length > 1 ? ` ${word}` : ` ${word} `));
}
