import type { BlockPool } from "../cache/block-pool.ts";
import type { Sequence } from "../sequence.ts";
import type { Proposer, DraftRequest } from "./proposer.ts";

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
 * Speculative decoding: guesses at the next tokens get rows in the step that draws the next token. Drafts that equal the
 * draws are kept, so a step can bring several tokens. Drafts never change the output: the random numbers of a draw depend on
 * its position only.
 *
 * A draft needs the text so far, so a sequence that drafts can't run ahead. If drafting doesn't pay, it stops.
 */
export class Drafter {
  #numTokens = 0;
  #maxDrafts = 0;
  /** Null: nothing is drafted. */
  #proposer: Proposer | null = null;
  readonly #records = new WeakMap<Sequence, Misses>();
  // Counters since start.
  numDrafts = 0;
  numDraftTokens = 0;
  numAcceptedTokens = 0;

  /**
   * Drafts in this way from the next plan on. Drafts that are in a step already are settled as before.
   * @param numTokens most tokens per draft
   * @param maxDrafts most draft tokens of a step
   */
  use(proposer: Proposer | null, numTokens: number, maxDrafts: number): void {
    this.#proposer = proposer;
    this.#numTokens = numTokens;
    this.#maxDrafts = maxDrafts;
  }

  /** Whether a sequence waits for its newest tokens, to draft from them. */
  waits(sequence: Sequence): boolean {
    if (this.#proposer === null) return false;
    return sequence.numPlaceholders > 0 && isFree(sequence) && !this.#isPaused(sequence);
  }

  /** Lets the proposer compute what it will propose; null if it computes nothing. */
  prepare(running: readonly Sequence[]): Promise<void> | null {
    if (!this.#proposer?.prepare) return null;
    let room = this.#maxDrafts;
    const requests: DraftRequest[] = [];
    for (const sequence of running) {
      if (!this.#mayDraft(sequence, sequence.numPendingTokens)) continue;
      const atMost = Math.min(room, this.#mostFor(sequence));
      if (atMost <= 0 || sequence.numPendingTokens !== 1) continue;
      room -= atMost;
      requests.push({ sequence, atMost });
    }
    return this.#proposer.prepare(requests);
  }

  /**
   * Drafts tokens that may follow a sequence's newest one. Uses only spare rows and samples (`room` of each) and spare
   * blocks. Returns the number of drafted tokens.
   * @param count rows that the sequence gets before the drafts
   */
  draft(sequence: Sequence, count: number, room: number, pool: BlockPool): number {
    const atMost = Math.min(room, this.#mostFor(sequence));
    if (!this.#mayDraft(sequence, count) || atMost <= 0) return 0;
    const drafts = this.#proposer?.propose(sequence, atMost) ?? null;
    if (drafts === null) return 0;
    if (drafts.length === 0) this.#miss(sequence, NOTHING_FOUND);
    const rows = sequence.numComputedTokens + count + drafts.length;
    const blocks = pool.allocate(Math.max(0, pool.blocksFor(rows) - sequence.blockTable.length));
    if (blocks === null) return 0;
    sequence.addBlocks(blocks);
    sequence.draft(drafts);
    return drafts.length;
  }

  /** @param hasState see Sequence.settleDrafts */
  settle(sequence: Sequence, accepted: number, hasState = false): void {
    this.numDrafts += 1;
    this.numDraftTokens += sequence.drafts.length;
    this.numAcceptedTokens += accepted;
    sequence.settleDrafts(accepted, hasState);
    if (accepted > 0) this.#recordOf(sequence).sum = 0;
    else this.#miss(sequence, WRONG);
  }

  /** @param count rows that the sequence gets before the drafts */
  #mayDraft(sequence: Sequence, count: number): boolean {
    const isCaughtUp = count === sequence.numPendingTokens && sequence.numPlaceholders === 0;
    return isFree(sequence) && isCaughtUp && !this.#isPaused(sequence);
  }

  #mostFor({ maxLength, tokens }: Sequence): number {
    return Math.min(this.#numTokens, maxLength - tokens.length - 1);
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

/** A grammar's mask covers one token only, and beams are chosen together. */
function isFree({ matcher, group }: Sequence): boolean {
  return matcher === null && group === null;
}
