import { overlap } from "./overlap.ts";

/**
 * Looks for stop strings in a text that arrives in pieces, also across pieces. Holds back only text that could still become
 * a stop string: the longest suffix of the text that is a prefix of one of them.
 *
 * The first stop string that is complete wins (of those that complete together, the longest), so the outcome depends
 * on the text alone, never on how it was cut into tokens.
 */
export class StopStringMatcher {
  readonly #stops: readonly string[];
  readonly #includeStop: boolean;
  /** Held back: a proper prefix of some stop string. No match can begin before it. */
  #held = "";

  /**
   * @param stops must not contain empty strings
   * @param includeStop whether a stop string is part of the text that it ends
   */
  constructor(stops: readonly string[], includeStop: boolean) {
    this.#stops = stops;
    this.#includeStop = includeStop;
  }

  /** Returns the text that may be shown. After a stop string it drops the rest, and nothing more may be pushed. */
  push(piece: string) {
    const text = this.#held + piece;
    const hit = this.#find(text);
    if (hit !== null) {
      this.#held = "";
      return { text: text.slice(0, this.#includeStop ? hit.end : hit.start), stop: hit.stop };
    }
    const shown = text.length - Math.max(0, ...this.#stops.map((stop) => overlap(text, stop)));
    this.#held = text.slice(shown);
    return { text: text.slice(0, shown), stop: null };
  }

  /** Returns the held-back text, once no more text comes. */
  flush(): string {
    const text = this.#held;
    this.#held = "";
    return text;
  }

  #find(text: string): { stop: string; start: number; end: number } | null {
    let best: { stop: string; start: number; end: number } | null = null;
    for (const stop of this.#stops) {
      const start = text.indexOf(stop);
      if (start < 0) continue;
      const end = start + stop.length;
      if (best === null || end < best.end || (end === best.end && start < best.start)) best = { stop, start, end };
    }
    return best;
  }
}
