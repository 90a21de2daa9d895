import type { BeamSearchParams } from "../sampling/sampling-params.ts";

/** A token of a beam and the natural log of its probability after the rules. */
export interface BeamToken {
  readonly tokenId: number;
  readonly logprob: number;
}

/** A finished answer. */
export interface Hypothesis {
  /** The output, including the token that ended it. */
  readonly tokens: readonly BeamToken[];
  /** Sum of the log-probabilities over length ** lengthPenalty. */
  readonly score: number;
}

/**
 * Keeps the best numBeams finished answers and decides when the search is over. Both follow Hugging Face's
 * generate(num_beams), with its early_stopping and length_penalty.
 */
export class BeamHypotheses {
  readonly #params: BeamSearchParams;
  readonly #maxTokens: number;
  /** In order of arrival. */
  #kept: Hypothesis[] = [];

  /** @param maxTokens most output tokens, the length at which "never" rates open beams */
  constructor(params: BeamSearchParams, maxTokens: number) {
    this.#params = params;
    this.#maxTokens = maxTokens;
  }

  /** Keeps an answer if there is room, or if it is better than the worst kept one. */
  add(tokens: readonly BeamToken[], sum: number): void {
    const score = this.#score(sum, tokens.length);
    const worst = this.#worst();
    const isFull = this.#kept.length === this.#params.numBeams;
    if (isFull && worst !== undefined && score <= worst.score) return;
    // Among equally bad answers the oldest is dropped.
    if (isFull) this.#kept = this.#kept.filter((hypothesis) => hypothesis !== worst);
    this.#kept.push({ tokens, score });
  }

  /**
   * Whether no open beam can improve on the kept answers.
   * @param best highest sum of log-probabilities among open beams
   * @param length number of output tokens of that beam
   */
  isDone(best: number, length: number): boolean {
    const { numBeams, earlyStopping, lengthPenalty } = this.#params;
    const worst = this.#worst();
    if (worst === undefined || this.#kept.length < numBeams) return false;
    if (earlyStopping === true) return true;
    // If longer is better, "never" rates the beam at the greatest length.
    const longest = earlyStopping === "never" && lengthPenalty > 0 ? this.#maxTokens : length;
    return worst.score >= this.#score(best, longest);
  }

  /** Returns the best answers, best first. Among equals the newest comes first. */
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
