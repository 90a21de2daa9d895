// Applies the rules of a request to its logits, in Hugging Face's order where it has the rule: bias, repetition penalty,
// frequency and presence penalties, n-grams, bad words, end tokens too early, allowed tokens, the mask of a grammar. Each
// step rounds to f32, as the GPU's does.

import { FORBIDDEN } from "../kernels/arithmetic.ts";
import type { StoredRuleLists } from "./rule-lists.ts";
import { SampleFlag, type SampleView } from "../../sample-record.ts";

export interface RuledRow {
  readonly request: SampleView;
  readonly lists: StoredRuleLists;
  /** The sequence's tokens so far: promptLength + outputIndex of them. */
  readonly history: Uint32Array;
  /** Tokens that a grammar allows next; null: all. */
  readonly mask: Uint32Array | null;
}

/** Changes the logits in place; those of forbidden tokens become FORBIDDEN. */
export function applyRules(logits: Float32Array, { request, lists, history, mask }: RuledRow): void {
  for (const [token, bias] of lists.biases) logits[token] = (logits[token] ?? 0) + bias;
  applyPenalties(logits, request, history);
  forbidRepeatedNgrams(logits, request.noRepeatNgramSize, history);
  for (const word of lists.badWords) {
    const last = word.length - 1;
    if (endsWith(history, word.subarray(0, last))) logits[word[last] ?? 0] = FORBIDDEN;
  }
  if ((request.flags & SampleFlag.tooEarly) !== 0) for (const token of lists.endTokens) logits[token] = FORBIDDEN;
  if (lists.allowed) forbidOthers(logits, lists.allowed);
  if (mask) forbidOthers(logits, mask);
}

function applyPenalties(logits: Float32Array, request: SampleView, history: Uint32Array): void {
  const { repetitionPenalty, frequencyPenalty, presencePenalty, promptLength } = request;
  if (repetitionPenalty === 1 && frequencyPenalty === 0 && presencePenalty === 0) return;
  const outputs = new Map<number, number>();
  history.forEach((token, i) => outputs.set(token, (outputs.get(token) ?? 0) + (i < promptLength ? 0 : 1)));
  for (const [token, count] of outputs) {
    const before = logits[token] ?? 0;
    let logit = Math.fround(before < 0 ? before * repetitionPenalty : before / repetitionPenalty);
    if (count > 0) {
      logit = Math.fround(logit - Math.fround(frequencyPenalty * count));
      logit = Math.fround(logit - presencePenalty);
    }
    logits[token] = logit;
  }
}

function forbidRepeatedNgrams(logits: Float32Array, size: number, history: Uint32Array): void {
  if (size === 0) return;
  const last = history.subarray(history.length - (size - 1));
  for (let i = 0; i + size <= history.length; i++) {
    const isSame = last.every((token, j) => history[i + j] === token);
    if (size === 1 || isSame) logits[history[i + size - 1] ?? 0] = FORBIDDEN;
  }
}

function endsWith(history: Uint32Array, end: Uint32Array): boolean {
  const start = history.length - end.length;
  return start >= 0 && end.every((token, i) => history[start + i] === token);
}

/** Forbids tokens that are not in the mask: bit (id & 31) of word (id >>> 5). */
function forbidOthers(logits: Float32Array, mask: Uint32Array): void {
  mask.forEach((bits, word) => {
    if (bits === 0xffffffff) return;
    const end = Math.min(logits.length, 32 * (word + 1));
    for (let token = 32 * word; token < end; token++) {
      if ((bits & (1 << (token & 31))) === 0) logits[token] = FORBIDDEN;
    }
  });
}
