import type { GrammarMatcher as Matcher } from "@mlc-ai/web-xgrammar";

import type { GrammarMatcher } from "../engine/sampling/grammar-matcher.ts";

/**
 * xgrammar's matcher with its traps closed: a crash ends one answer, and nothing is asked beyond the end of a text. To
 * xgrammar a token that is text may come within the text although it ends an answer. So there a token of its own, behind the
 * vocabulary, stands for the end, and whether that may come decides for all that end an answer here.
 */
export class XgrammarMatcher implements GrammarMatcher {
  readonly endTokenIds: readonly number[];
  readonly mask: Uint32Array;
  readonly #vocabSize: number;
  readonly #onCrash: () => void;
  /** null once the text has ended, or nobody wants it any more. */
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
    // Bits beyond the vocabulary are those of no token.
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
