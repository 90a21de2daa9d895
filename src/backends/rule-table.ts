// The layout of a sequence's rules that are lists, in its slot's table, for every backend.
//
//   | biases | end tokens | words of bad words | 1: has allowed tokens |
//   | a bit per allowed token | (token, bits of its bias) .. | token .. | per bad word: length, tokens .. |

import { badWordWords, MAX_RULE_WORDS } from "../engine/sampling/logit-rules.ts";
import type { ListRules } from "../engine/step-plan.ts";

export const HEADER_WORDS = 4;

export interface RuleTableShape {
  /** Words of one slot's table. */
  readonly words: number;
  readonly maskWords: number;
}

export function ruleTableShape(vocabSize: number): RuleTableShape {
  const maskWords = Math.ceil(vocabSize / 32);
  return { words: HEADER_WORDS + maskWords + MAX_RULE_WORDS, maskWords };
}

/** Returns a request's rules in this layout. shaders/process-logits.wgsl and cpu/sampler read it. */
export function packRules(rules: ListRules, { words, maskWords }: RuleTableShape): Uint32Array<ArrayBuffer> {
  const table = new Uint32Array(words);
  const floats = new Float32Array(table.buffer);
  const { logitBias, endTokenIds, badWords, allowedTokenIds } = rules;
  table.set([logitBias.length, endTokenIds.length, badWordWords(badWords), allowedTokenIds === null ? 0 : 1]);
  for (const id of allowedTokenIds ?? []) {
    const at = HEADER_WORDS + (id >>> 5);
    table[at] = (table[at] ?? 0) | (1 << (id & 31));
  }
  let at = HEADER_WORDS + maskWords;
  for (const [id, bias] of logitBias) {
    table[at] = id;
    floats[at + 1] = bias;
    at += 2;
  }
  table.set(endTokenIds, at);
  at += endTokenIds.length;
  for (const word of badWords) {
    table[at] = word.length;
    table.set(word, at + 1);
    at += 1 + word.length;
  }
  return table;
}
