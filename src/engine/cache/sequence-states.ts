import type { ScheduledSequence, Sequence } from "../sequence.ts";
import type { SharedPrefix } from "./shared-prefix.ts";
import { NO_STATE, type PlannedState, type StateKeep } from "../step-plan.ts";
import type { BlockPool } from "./block-pool.ts";

/** However long a text is, its state is kept after this many tokens, and so on. */
const LASTING_TOKENS = 2048;

interface OwnState {
  slot: number;
  /** The slot that its next rows begin with. */
  from: number;
  /** The slot with the state before the drafts of the step in flight, and the blocks that were kept with drafts in them. */
  spare: { readonly slot: number; readonly drafted: number[] } | null;
  /** Blocks that it keeps states of, and that are not published yet. */
  readonly kept: Set<number>;
  /** The block whose state it keeps until it keeps a later one. */
  latest: number | null;
  /** Where its tokens part from those of earlier sequences. */
  readonly fork: number;
}

/**
 * Knows in which slots the states of sequences are, for models that keep such: a state is that of one position, so what
 * the cache has of earlier tokens is of use only up to a block whose state is kept. Kept are the state after the prompt's
 * last full block, that after each LASTING_TOKENS tokens, that after the blocks which another prompt had, too, and that after
 * the newest full block, which the next turn of a chat goes on from.
 */
export class SequenceStates {
  readonly #pool: BlockPool;
  readonly #own = new Map<Sequence, OwnState>();

  constructor(pool: BlockPool) {
    this.#pool = pool;
  }

  /**
   * Returns what a sequence may share if it starts now: nothing, if only the state after it could make room for the sequence's
   * own; null if there is no room at all.
   */
  shareable(prefix: SharedPrefix): SharedPrefix | null {
    const { states } = this.#pool;
    if (states.hasRoomBeside(prefix.blocks.at(-1))) return prefix;
    return states.hasRoom ? { ...prefix, blocks: [], chain: null } : null;
  }

  /** Gives a sequence a slot, and the state after the last of the blocks that it shares: see shareable(). */
  admit(sequence: Sequence, { blocks, numKnown }: SharedPrefix): void {
    const { states, blockSize } = this.#pool;
    const last = blocks.at(-1);
    const from = last === undefined ? NO_STATE : states.read(last);
    const slot = states.take();
    if (slot === null)
      throw new Error(`sequence ${sequence.requestId}#${sequence.index} starts without room for its state`);
    const fork = numKnown * blockSize;
    this.#own.set(sequence, { slot, from, spare: null, kept: new Set(), latest: null, fork });
  }

  /** Whether drafts may follow these many tokens: there is a slot for the state before them, and no block is due for it. */
  mayDraftAfter(numTokens: number): boolean {
    return this.#pool.states.hasRoom && numTokens % this.#pool.blockSize > 0;
  }

  plan({ sequence, start, count, drafts }: ScheduledSequence): PlannedState {
    const { states, blockSize } = this.#pool;
    const own = this.#ownOf(sequence);
    const { from, slot: to } = own;
    own.from = to;
    const firstDraft = start + count - drafts.length;
    const spare = drafts.length > 0 ? states.take() : null;
    if (spare !== null) own.spare = { slot: spare, drafted: [] };
    const keeps: StateKeep[] = [];
    const newest = Math.floor((start + count) / blockSize) * blockSize;
    for (let end = start - (start % blockSize) + blockSize; end <= newest; end += blockSize) {
      if (end < newest && !this.#lasts(sequence, own, end)) continue;
      const block = sequence.blockTable[end / blockSize - 1] ?? -1;
      const slot = states.keep(block);
      if (slot === null) continue;
      keeps.push({ rows: end - start, slot });
      own.kept.add(block);
      if (end > firstDraft) own.spare?.drafted.push(block);
    }
    if (spare !== null) keeps.push({ rows: firstDraft - start, slot: spare });
    return { from, to, keeps: keeps.toSorted((a, b) => a.rows - b.rows) };
  }

  /** The drafts of a sequence's step were right, or it goes back to the state before them. */
  settle(sequence: Sequence, areRight: boolean): void {
    const own = this.#ownOf(sequence);
    if (own.spare === null) return;
    const { states } = this.#pool;
    const { slot, drafted } = own.spare;
    own.spare = null;
    if (areRight) return states.free(slot);
    for (const block of drafted) states.drop(block);
    states.free(own.slot);
    own.slot = own.from = slot;
  }

  /**
   * A sequence's block is full, and is found as `known`, which may be another one with the same tokens. A state that another
   * sequence kept stays with it.
   */
  publish(sequence: Sequence, index: number, known: number): void {
    const { states, blockSize } = this.#pool;
    const own = this.#ownOf(sequence);
    const block = sequence.blockTable[index] ?? -1;
    const isOthers = block !== known && states.has(known);
    const isOwn = own.kept.delete(block);
    states.move(block, known);
    if (!isOwn || isOthers || !states.has(known)) return;
    if (own.latest !== null && own.latest !== known) states.drop(own.latest);
    own.latest = this.#lasts(sequence, own, (index + 1) * blockSize) ? null : known;
  }

  release(sequence: Sequence): void {
    const own = this.#own.get(sequence);
    if (own === undefined) return;
    this.#pool.states.free(own.slot);
    if (own.spare !== null) this.#pool.states.free(own.spare.slot);
    this.#own.delete(sequence);
  }

  assertConsistent(): void {
    const own = [...this.#own.values()].flatMap(({ slot, spare }) => (spare === null ? [slot] : [slot, spare.slot]));
    this.#pool.states.assertConsistent(own);
  }

  #lasts({ promptLength }: Sequence, { fork }: OwnState, end: number): boolean {
    const { blockSize } = this.#pool;
    // The same prompt shares all but its last token, which each computes.
    const ofPrompt = Math.floor((promptLength - 1) / blockSize) * blockSize;
    return end % LASTING_TOKENS === 0 || end === ofPrompt || end === fork;
  }

  #ownOf(sequence: Sequence): OwnState {
    const own = this.#own.get(sequence);
    if (own === undefined) throw new Error(`sequence ${sequence.requestId}#${sequence.index} runs without a state`);
    return own;
  }
}
