import type { GrammarMatcher as Matcher } from "@mlc-ai/web-xgrammar";

import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";

/**
 * Wraps xgrammar's matcher: a crash ends one answer only, and it is never called after the end of a text. xgrammar allows
 * an end token that has text as part of the answer. So an extra token after the vocabulary stands for the end: if the
 * grammar allows that one, it allows all end tokens.
 */
export class XgrammarMatcher implements GrammarMatcher {
  readonly endTokenIds: readonly number[];
  readonly mask: Uint32Array;
  readonly #vocabSize: number;
  readonly #onCrash: () => void;
  /** null once the text has ended or the matcher was disposed. */
  #matcher: Matcher | null;

  constructor(matcher: Matcher, endTokenIds: readonly number[], vocabSize: number, onCrash: () => void) {
    this.#matcher = matcher;
    this.endTokenIds = endTokenIds;
    this.mask = new Uint32Array(Math.ceil(vocabSize / 32));
    this.#vocabSize = vocabSize;
    this.#onCrash = onCrash;
  }

  async prepareMask(): Promise<boolean> {
    const matcher = this.#matcher;
    let isComplete: boolean;
    try {
      if (matcher === null) return false;
      const words = await matcher.getNextTokenBitmask();
      this.mask.set(words.subarray(0, this.mask.length));
      isComplete = (((words[this.#vocabSize >>> 5] ?? 0) >>> (this.#vocabSize & 31)) & 1) === 1;
    } catch {
      this.#crash();
      return false;
    }
    // Bits beyond the vocabulary belong to no token.
    const spare = this.mask.length * 32 - this.#vocabSize;
    const last = this.mask.length - 1;
    this.mask[last] = ((this.mask[last] ?? 0) << spare) >>> spare;
    for (const id of this.endTokenIds) {
      const bit = 1 << (id & 31);
      const word = this.mask[id >>> 5] ?? 0;
      this.mask[id >>> 5] = isComplete ? word | bit : word & ~bit;
    }
    return this.mask.some((word) => word !== 0);
  }

  accept(tokenId: number): boolean {
    const isEnd = this.endTokenIds.includes(tokenId);
    try {
      const isAccepted = this.#matcher?.acceptToken(isEnd ? this.#vocabSize : tokenId) ?? false;
      if (isEnd && isAccepted) this.dispose();
      return isAccepted;
    } catch {
      this.#crash();
      return false;
    }
  }

  dispose(): void {
    const matcher = this.#matcher;
    this.#matcher = null;
    try {
      matcher?.dispose();
    } catch {
      this.#onCrash();
    }
  }

  #crash(): void {
    this.#matcher = null;
    this.#onCrash();
  }
}
