import type { BeamSearchParams } from "../sampling/sampling-params.ts";

/** A token of a beam, and the natural log of its probability after the rules. */
export interface BeamToken {
  readonly tokenId: number;
  readonly logprob: number;
}

/** An answer that beam search has come to its end with. */
export interface Hypothesis {
  /** The output, the token that ended it included. */
  readonly tokens: readonly BeamToken[];
  /** Sum of the log-probabilities over length ** lengthPenalty. */
  readonly score: number;
}

/**
 * The best finished answers, as many as there are beams, and when the search is over: by the rules of Hugging Face's
 * generate(num_beams), early_stopping and length_penalty as they are there.
 */
export class BeamHypotheses {
  readonly #params: BeamSearchParams;
  readonly #maxTokens: number;
  /** In the order in which they came. */
  #kept: Hypothesis[] = [];

  /** @param maxTokens most output tokens: what "never" holds open beams to */
  constructor(params: BeamSearchParams, maxTokens: number) {
    this.#params = params;
    this.#maxTokens = maxTokens;
  }

  /** Keeps an answer if there is room, or if it is better than the worst that is kept. */
  add(tokens: readonly BeamToken[], sum: number): void {
    const score = this.#score(sum, tokens.length);
    const worst = this.#worst();
    const isFull = this.#kept.length === this.#params.numBeams;
    if (isFull && worst !== undefined && score <= worst.score) return;
    // Of equally bad ones the first that came gives way.
    if (isFull) this.#kept = this.#kept.filter((hypothesis) => hypothesis !== worst);
    this.#kept.push({ tokens, score });
  }

  /**
   * Whether no open beam can improve on what is kept.
   * @param best highest sum of log-probabilities of any that goes on
   * @param length its output tokens
   */
  isDone(best: number, length: number): boolean {
    const { numBeams, earlyStopping, lengthPenalty } = this.#params;
    const worst = this.#worst();
    if (worst === undefined || this.#kept.length < numBeams) return false;
    if (earlyStopping === true) return true;
    // Where longer is better, "never" asks what the beam could come to at the greatest length.
    const longest = earlyStopping === "never" && lengthPenalty > 0 ? this.#maxTokens : length;
    return worst.score >= this.#score(best, longest);
  }

  /** The best, best first; of equals the one that came last. */
  best(count: number): Hypothesis[] {
    return this.#kept
      .toReversed()
      .sort((a, b) => b.score - a.score)
      .slice(0, count);
  }

  #score(sum: number, length: number): number {
    return sum / length ** this.#params.lengthPenalty;
  }

  #worst(): Hypothesis | undefined {
    return this.#kept.reduce<Hypothesis | undefined>(
      (worst, one) => (worst === undefined || one.score < worst.score ? one : worst),
      undefined,
    );
  }
}
