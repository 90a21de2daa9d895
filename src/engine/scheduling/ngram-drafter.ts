import type { BlockPool } from "../cache/block-pool.ts";
import type { Sequence } from "../core/sequence.ts";

interface NgramSpeculation {
  /** Most tokens per draft. */
  readonly numTokens: number;
  /** Number of tokens at the end that must have occurred earlier in a row. */
  readonly minMatch: number;
}

/** A sequence stops drafting for PAUSE_TOKENS after this many misses in a row, by weight. */
const MAX_MISSES = 16;
const PAUSE_TOKENS = 32;
/** Weights of misses: a rejected draft wastes rows; a failed search only prevents running ahead. */
const WRONG = 4;
const NOTHING_FOUND = 1;

/** How the drafts of a sequence have failed. */
interface Misses {
  /** Sum of the weights of misses in a row. */
  sum: number;
  /** Number of tokens from which on the sequence drafts again. */
  pausedUntil: number;
}

/**
 * Speculative decoding by prompt lookup (Saxena 2023): the tokens that followed the last few tokens earlier in the text may
 * follow them again. The drafted tokens get rows in the step that draws the next token. Drafts that equal the draws are
 * kept, so a step can bring several tokens. Drafts never change the output: the random numbers of a draw depend on its
 * position only.
 *
 * A draft needs the text so far, so a sequence that drafts can't run ahead. If drafting doesn't pay, it stops.
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

  /** Whether a sequence waits for its newest tokens, to draft from them. */
  waits(sequence: Sequence): boolean {
    return sequence.numPlaceholders > 0 && !this.#isPaused(sequence);
  }

  /**
   * Drafts tokens that may follow a sequence's newest one. Uses only spare rows and samples (`room` of each) and spare
   * blocks. Returns the number of drafted tokens.
   * @param count rows that the sequence gets before the drafts
   */
  draft(sequence: Sequence, count: number, room: number, pool: BlockPool): number {
    const { tokens, maxLength, numPendingTokens, numPlaceholders, group, matcher } = sequence;
    const atMost = Math.min(room, this.#options.numTokens, maxLength - tokens.length - 1);
    const isCaughtUp = count === numPendingTokens && numPlaceholders === 0;
    // A grammar's mask covers one token only.
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

  /** Takes back the rows of rejected drafts, once the draws are known. */
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

/** Longest match to look for, in tokens. Longer matches predict no better and take time to find. */
const LONGEST_MATCH = 8;

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
