import { HEADER_WORDS, type RuleTableShape } from "../../rule-table.ts";

/** A slot's rule table (backends/rule-table.ts) as the sampler reads it. */
export interface StoredRuleLists {
  readonly biases: readonly (readonly [token: number, bias: number])[];
  readonly endTokens: Uint32Array;
  readonly badWords: readonly Uint32Array[];
  /** A bit for each allowed token; null: all are allowed. */
  readonly allowed: Uint32Array | null;
}

export function readRuleLists(words: Uint32Array, { maskWords }: RuleTableShape): StoredRuleLists {
  const [numBiases = 0, numEndTokens = 0, numBadWordWords = 0, hasAllowed] = words;
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const biasesAt = HEADER_WORDS + maskWords;
  const biases = Array.from({ length: numBiases }, (_, i) => {
    const at = biasesAt + 2 * i;
    return [words[at] ?? 0, floats[at + 1] ?? 0] as const;
  });
  const endTokensAt = biasesAt + 2 * numBiases;
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
    allowed: hasAllowed === 1 ? words.subarray(HEADER_WORDS, biasesAt) : null,
  };
}
