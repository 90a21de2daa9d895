import type { FinishReason } from "../../protocol/openai.ts";
import type { Sequence } from "../sequence.ts";

/** After 64 others have ended, a sequence counts half as much. */
const DECAY = 0.5 ** (1 / 64);

/**
 * Expects how many steps sequences still take. A token is the last one of its answer with the probability
 *
 *   h = answers that ended before max_tokens / output tokens of all answers
 *
 * over the answers so far, the newest counting most. Answers that max_tokens cut off add tokens, but no ending: if all are
 * cut off, the expectation is max_tokens.
 */
export class RemainingSteps {
  #maxNumBatchedTokens: number;
  #numEnded = 0;
  #numTokens = 0;

  constructor({ maxNumBatchedTokens }: { readonly maxNumBatchedTokens: number }) {
    this.#maxNumBatchedTokens = maxNumBatchedTokens;
  }

  update({ maxNumBatchedTokens }: { readonly maxNumBatchedTokens: number }): void {
    this.#maxNumBatchedTokens = maxNumBatchedTokens;
  }

  /** Learns from a sequence's end. A beam's end says nothing about its answer. */
  learn({ numOutputTokens, group }: Sequence, reason: FinishReason): void {
    if (numOutputTokens === 0 || group !== null) return;
    this.#numEnded = DECAY * this.#numEnded + (reason === "length" ? 0 : 1);
    this.#numTokens = DECAY * this.#numTokens + numOutputTokens;
  }

  /** Returns the steps that compute its missing rows, plus one for each token that is expected to follow. */
  of({ numTokens, numComputedTokens, maxLength }: Sequence): number {
    const most = maxLength - numTokens;
    const h = this.#numTokens === 0 ? 0 : this.#numEnded / this.#numTokens;
    // The mean of a geometric distribution that is cut off.
    const expected = h === 0 ? most : (1 - (1 - h) ** most) / h;
    return (numTokens - numComputedTokens) / this.#maxNumBatchedTokens + expected;
  }
}
