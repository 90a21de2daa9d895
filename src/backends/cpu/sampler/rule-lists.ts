// The rules of a sequence that are lists, in its slot's memory.
//
//   | biases | end tokens | words of bad words | 1: has allowed tokens |
//   | (token, bits of its bias) .. | token .. | per bad word: length, tokens .. | a bit an allowed token |

import { badWordWords, MAX_RULE_WORDS, type LogitRules } from "../../../engine/sampling/logit-rules.ts";

export type RuleLists = Pick<LogitRules, "logitBias" | "endTokenIds" | "badWords" | "allowedTokenIds">;

const HEADER_WORDS = 4;

export function maskWords(vocabSize: number): number {
  return Math.ceil(vocabSize / 32);
}

/** Words of a slot's rules. */
export function ruleListWords(vocabSize: number): number {
  return HEADER_WORDS + MAX_RULE_WORDS + maskWords(vocabSize);
}

/** @param words ruleListWords(vocabSize) of them */
export function writeRuleLists(words: Uint32Array, lists: RuleLists, vocabSize: number): void {
  const { logitBias, endTokenIds, badWords, allowedTokenIds } = lists;
  const biases = new Uint32Array(Float32Array.from(logitBias, ([, bias]) => bias).buffer);
  words.set([logitBias.length, endTokenIds.length, badWordWords(badWords), allowedTokenIds === null ? 0 : 1]);
  const entries = [
    ...logitBias.flatMap(([token], i) => [token, biases[i] ?? 0]),
    ...endTokenIds,
    ...badWords.flatMap((word) => [word.length, ...word]),
  ];
  words.set(entries, HEADER_WORDS);
  const mask = words.subarray(words.length - maskWords(vocabSize));
  mask.fill(0);
  for (const token of allowedTokenIds ?? []) mask[token >>> 5] = (mask[token >>> 5] ?? 0) | (1 << (token & 31));
}

/** The lists as the sampler reads them. */
export interface StoredRuleLists {
  readonly biases: readonly (readonly [token: number, bias: number])[];
  readonly endTokens: Uint32Array;
  readonly badWords: readonly Uint32Array[];
  /** Of the tokens that are allowed; null: all. */
  readonly allowed: Uint32Array | null;
}

export function readRuleLists(words: Uint32Array, vocabSize: number): StoredRuleLists {
  const [numBiases = 0, numEndTokens = 0, numBadWordWords = 0, hasAllowed] = words;
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const biases = Array.from({ length: numBiases }, (_, i) => {
    const at = HEADER_WORDS + 2 * i;
    return [words[at] ?? 0, floats[at + 1] ?? 0] as const;
  });
  const endTokensAt = HEADER_WORDS + 2 * numBiases;
  const badWordsAt = endTokensAt + numEndTokens;
  const badWords: Uint32Array[] = [];
  for (let at = badWordsAt; at < badWordsAt + numBadWordWords;) {
    const length = words[at] ?? 0;
    badWords.push(words.subarray(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return {
    biases,
    endTokens: words.subarray(endTokensAt, badWordsAt),
    badWords,
    allowed: hasAllowed === 1 ? words.subarray(words.length - maskWords(vocabSize)) : null,
  };
}
