import type { Sequence } from "../sequence.ts";
import type { Proposer } from "./proposer.ts";

/** Longest match to look for, in tokens. Longer matches predict no better and take time to find. */
const LONGEST_MATCH = 8;

/**
 * Prompt lookup (Saxena 2023): the tokens that followed the last few tokens earlier in the text may follow them again.
 */
export class NgramProposer implements Proposer {
  readonly #minMatch: number;

  /** @param minMatch number of tokens at the end that must have occurred earlier in a row */
  constructor(minMatch: number) {
    this.#minMatch = minMatch;
  }

  propose({ tokens }: Sequence, atMost: number): readonly number[] {
    return continuation(tokens, this.#minMatch, atMost);
  }
}

/** Returns up to `atMost` tokens that followed the longest earlier match of the text's end; the latest of equal matches. */
function continuation(tokens: readonly number[], minMatch: number, atMost: number): readonly number[] {
  let best = -1;
  let bestLength = minMatch - 1;
  for (let end = tokens.length - 2; end >= minMatch - 1 && bestLength < LONGEST_MATCH; end--) {
    let length = 0;
    while (length < LONGEST_MATCH && length <= end && tokens[end - length] === tokens[tokens.length - 1 - length]) {
      length += 1;
    }
    if (length > bestLength) [best, bestLength] = [end, length];
  }
  return best < 0 ? [] : tokens.slice(best + 1, best + 1 + atMost);
}
