import type { BlockPool } from "../cache/block-pool.ts";
import type { Sequence } from "../core/sequence.ts";

interface NgramSpeculation {
  /** Most tokens that are drafted at once. */
  readonly numTokens: number;
  /** Tokens at the end that must have occurred before, in a row, for what followed them to be drafted. */
  readonly minMatch: number;
}

/** After so much of fruitless attempts in a row a sequence stops drafting for PAUSE_TOKENS. */
const MAX_MISSES = 16;
const PAUSE_TOKENS = 32;
/** A draft of which nothing held has cost rows; where there was nothing to draft, only the running ahead was lost. */
const WRONG = 4;
const NOTHING_FOUND = 1;

/** How the drafts of a sequence have failed. */
interface Misses {
  /** Weights of rejected drafts in a row. */
  sum: number;
  /** Number of tokens from which on the sequence drafts again. */
  pausedUntil: number;
}

/**
 * Speculative decoding by looking up (prompt-lookup decoding, Saxena 2023): what followed the same few tokens earlier in
 * the text may follow them again. A draft's tokens are rows of the very step that draws the next token; those that are
 * drawn as drafted are kept, so a step can bring several tokens. The draws are the same as without drafts: a token is
 * drawn by the counter-based random numbers of its place, whatever row it comes from.
 *
 * Drafts need the text to be known, so a sequence that drafts doesn't run ahead. Where that doesn't pay it stops.
 */
export class NgramDrafter {
  readonly #options: NgramSpeculation;
  readonly #records = new WeakMap<Sequence, Misses>();
  // Counters since start.
  numDrafts = 0;
  numDraftTokens = 0;
  numAcceptedTokens = 0;

  constructor(options: NgramSpeculation) {
    this.#options = options;
  }

  /** Whether a sequence is to wait until its newest tokens are known, to draft from them. */
  waits(sequence: Sequence): boolean {
    return sequence.numPlaceholders > 0 && !this.#isPaused(sequence);
  }

  /**
   * Drafts what may follow a sequence's newest token, in rows, samples (`room` of both) and blocks that nobody else
   * wants. Returns how many tokens.
   * @param count rows that the sequence gets before
   */
  draft(sequence: Sequence, count: number, room: number, pool: BlockPool): number {
    const { tokens, maxLength, numPendingTokens, numPlaceholders, group, matcher } = sequence;
    const atMost = Math.min(room, this.#options.numTokens, maxLength - tokens.length - 1);
    const isCaughtUp = count === numPendingTokens && numPlaceholders === 0;
    // A grammar's mask is for one token.
    if (matcher !== null || group !== null || !isCaughtUp || this.#isPaused(sequence) || atMost <= 0) return 0;
    const drafts = continuation(tokens, this.#options.minMatch, atMost);
    if (drafts.length === 0) this.#miss(sequence, NOTHING_FOUND);
    const rows = sequence.numComputedTokens + count + drafts.length;
    const blocks = pool.allocate(Math.max(0, pool.blocksFor(rows) - sequence.blockTable.length));
    if (blocks === null) return 0;
    sequence.addBlocks(blocks);
    sequence.draft(drafts);
    return drafts.length;
  }

  /** What was drawn after the drafts is known: takes back the rows of those that were wrong. */
  settle(sequence: Sequence, accepted: number): void {
    this.numDrafts += 1;
    this.numDraftTokens += sequence.drafts.length;
    this.numAcceptedTokens += accepted;
    sequence.settleDrafts(accepted);
    if (accepted > 0) this.#recordOf(sequence).sum = 0;
    else this.#miss(sequence, WRONG);
  }

  #miss(sequence: Sequence, weight: number): void {
    const record = this.#recordOf(sequence);
    record.sum += weight;
    if (record.sum < MAX_MISSES) return;
    record.pausedUntil = sequence.tokens.length + PAUSE_TOKENS;
    record.sum = MAX_MISSES - 1; // then one attempt at a time, until one succeeds
  }

  #isPaused(sequence: Sequence): boolean {
    return sequence.tokens.length < (this.#records.get(sequence)?.pausedUntil ?? 0);
  }

  #recordOf(sequence: Sequence): Misses {
    const record = this.#records.get(sequence) ?? { sum: 0, pausedUntil: 0 };
    this.#records.set(sequence, record);
    return record;
  }
}

/** How many tokens of a match count: longer ones are no better, and looking for them takes time. */
const LONGEST_MATCH = 8;

/** Up to `atMost` tokens: what followed the latest of the longest earlier occurrences of the end. */
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
