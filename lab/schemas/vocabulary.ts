// Vocabularies to measure with: a tokenizer.json's, or one that is made up.

import { bytesOfToken, bytesOfPiece } from "../../src/files/byte-alphabet.ts";

interface TokenizerJson {
  readonly model: { readonly vocab: Record<string, number>; readonly byte_fallback?: boolean };
}

const SYLLABLES =
  "ba be bi bo ca ce da de di do en er es fa fi ga ge ha he in is la le li lo ma me mi mo na ne no on or pa pe ra re ri ro sa se si so ta te ti to un va ve".split(
    " ",
  );

/** Punctuation as it stands together in JSON, with commas of another kind between. */
const JOINED = '": ;", ";": ";"};"];"},;"],;}};]];},;{";[";, ";: ;, ;[{;": [;": {;\\";\\n;},{;":"'.split(";");

/** Returns the tokens of a tokenizer.json of byte-level BPE or SentencePiece, a character for each byte. */
export function vocabularyOf(json: TokenizerJson): string[] {
  const tokens: string[] = [];
  const bytesOf = json.model.byte_fallback ? bytesOfPiece : bytesOfToken;
  for (const [token, id] of Object.entries(json.model.vocab)) tokens[id] = String.fromCharCode(...bytesOf(token));
  return Array.from(tokens, (token) => token ?? "");
}

/**
 * Returns a vocabulary of as many tokens as asked for: all bytes, the words of the texts with what stands before them, joined
 * punctuation as tokenizers have it, and made-up words, of which some begin within a character.
 */
export function madeUpVocabulary(texts: readonly string[], size: number): string[] {
  const found = new Set(Array.from({ length: 256 }, (_, byte) => String.fromCharCode(byte)));
  const add = (text: string) => found.size < size && found.add(String.fromCharCode(...new TextEncoder().encode(text)));
  for (const joined of JOINED) add(joined);
  for (const text of texts)
    for (const [piece] of text.matchAll(/ ?\p{L}+| ?\p{P}{1,3}|\s{1,8}|\p{N}{1,3}/gu)) add(piece);
  for (let i = 0; i < 40_000 && found.size < size; i++) {
    add(String.fromCodePoint(0x400 + ((i * 7) % 0x5000)).repeat(1 + (i % 2)));
    found.add(String.fromCharCode(0x80 + (i % 64), 0x80 + ((i >> 6) % 64)));
  }
  for (let i = 0; found.size < size; i++) {
    let word = i % 2 === 0 ? " " : "";
    for (let rest = i >> 1, length = 0; rest > 0 || length < 2; length++) {
      word += SYLLABLES[rest % SYLLABLES.length] ?? "";
      rest = Math.floor(rest / SYLLABLES.length);
    }
    add(word);
  }
  return [...found];
}
