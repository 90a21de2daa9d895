import { ChorusError } from "../../protocol/errors.ts";

/**
 * The runner's slots for states of sequences, where a model keeps such. A state is large, so slots are few:
 *
 *   own    a running sequence's: each of its steps reads and writes it
 *   kept   the state after the last token of a cache block: whoever shares the block can go on from it. What nobody has used
 *          for longest makes room.
 *   free
 *
 * Steps are computed in order. So a slot may have another use in the next step, but not in the same one.
 */
export class StatePool {
  readonly numSlots: number;
  readonly #free: Set<number>;
  /** Slots of kept states by their blocks, in the order of their last use. */
  readonly #kept = new Map<number, number>();
  /** Kept slots that the step being planned reads or writes. */
  readonly #inStep = new Set<number>();

  constructor(numSlots: number) {
    this.numSlots = numSlots;
    this.#free = new Set(Array(numSlots).keys());
  }

  /** Another step is planned: what the last one uses may be written. */
  beginStep(): void {
    this.#inStep.clear();
  }

  has(block: number): boolean {
    return this.#kept.has(block);
  }

  /** Returns the slot of the state after a block, for a sequence of this step to begin with. */
  read(block: number): number {
    const slot = this.#kept.get(block);
    if (slot === undefined) throw new ChorusError("internal_error", `No state is kept of cache block ${block}.`);
    this.#kept.delete(block);
    this.#kept.set(block, slot);
    this.#inStep.add(slot);
    return slot;
  }

  /** Whether take() would find a slot. */
  get hasRoom(): boolean {
    return this.#next() !== undefined;
  }

  /** Whether take() would find a slot after the state after a block was read. [none is read] */
  hasRoomBeside(block: number | undefined): boolean {
    return this.#next(this.#kept.get(block ?? -1)) !== undefined;
  }

  /** Returns a slot for a sequence of its own; null if all others are in use. */
  take(): number | null {
    const next = this.#next();
    if (next === undefined) return null;
    if (next.block !== null) this.#kept.delete(next.block);
    this.#free.delete(next.slot);
    return next.slot;
  }

  /** Returns a slot in which the step leaves the state after a block; null if it has one, or there is no room. */
  keep(block: number): number | null {
    const slot = this.has(block) ? null : this.take();
    if (slot === null) return null;
    this.#kept.set(block, slot);
    this.#inStep.add(slot);
    return slot;
  }

  /** Finds a kept state by another block with the same tokens from now on. */
  move(block: number, to: number): void {
    const slot = this.#kept.get(block);
    if (slot === undefined || block === to) return;
    this.#kept.delete(block);
    if (this.has(to)) this.#free.add(slot);
    else this.#kept.set(to, slot);
  }

  drop(block: number): void {
    const slot = this.#kept.get(block);
    if (slot === undefined) return;
    this.#kept.delete(block);
    this.#free.add(slot);
  }

  free(slot: number): void {
    this.#free.add(slot);
  }

  /** Throws unless each slot is free, kept, or one of those that sequences own. */
  assertConsistent(own: readonly number[]): void {
    const known = [...this.#free, ...this.#kept.values(), ...own];
    if (known.length === this.numSlots && new Set(known).size === this.numSlots) return;
    throw new ChorusError("internal_error", `${known.length} uses of ${this.numSlots} slots for states are known.`);
  }

  #next(readSlot?: number): { readonly slot: number; readonly block: number | null } | undefined {
    for (const slot of this.#free) if (!this.#inStep.has(slot)) return { slot, block: null };
    for (const [block, slot] of this.#kept) if (!this.#inStep.has(slot) && slot !== readSlot) return { slot, block };
    return undefined;
  }
}
