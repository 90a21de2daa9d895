// A step's input, in memory that all threads read.
//
//   head      num rows, num samples, num sequences that have states
//   rows      [maxRows] token, position, slot, start             token UNKNOWN: the one that history has at the position
//   samples   [maxSamples] SAMPLE_WORDS: see ../../sample-record.ts
//   tables    [maxSlots, maxBlocks] block ids
//   states    [maxSlots] first row, num rows, from, to, first keep, num keeps      see PlannedState
//   keeps     [numStates] rows, slot
//   history   [maxSlots, maxLength] tokens of each slot's sequence, to which the sampler appends
//
// Since a row takes its token from the history, and not from a cell that the step itself overwrites, a step that failed in
// one thread can be computed again from its beginning.

import type { PlannedState } from "../../../engine/step-plan.ts";
import type { MemoryMap } from "../memory-map.ts";
import { SAMPLE_WORDS } from "../../sample-record.ts";
import type { StepLimits } from "../../step-limits.ts";

/** Token of a row whose id the host does not know yet. */
export const UNKNOWN = 0xffffffff;

const HEAD_WORDS = 16;
export const ROW_WORDS = 4;
/** Numbers of a sequence in `states`, and of a state in `keeps`. */
export const STATE_WORDS = 6;
export const KEEP_WORDS = 2;

/** Addresses; plain data, the same in every thread. */
export interface StepMemory extends StepLimits {
  /** Slots for states; 0: the model has none. */
  readonly numStates: number;
  readonly head: number;
  readonly rows: number;
  readonly samples: number;
  readonly tables: number;
  readonly states: number;
  readonly keeps: number;
  readonly history: number;
}

/** A sequence's rows in a step, and its state before, within and after them. */
export interface StatedSequence extends PlannedState {
  readonly firstRow: number;
  readonly numRows: number;
}

export function takeStepMemory(map: MemoryMap, limits: StepLimits & Pick<StepMemory, "numStates">): StepMemory {
  const words = (count: number) => map.take(4 * count);
  return {
    ...limits,
    head: words(HEAD_WORDS),
    rows: words(limits.maxRows * ROW_WORDS),
    samples: words(limits.maxSamples * SAMPLE_WORDS),
    tables: words(limits.maxSlots * limits.maxBlocks),
    states: words(limits.numStates && limits.maxSlots * STATE_WORDS),
    keeps: words(limits.numStates * KEEP_WORDS),
    history: words(limits.maxSlots * limits.maxLength),
  };
}

/** A step's rows, read from memory. */
export class StepView {
  readonly #words: Uint32Array;
  readonly #memory: StepMemory;

  constructor(buffer: ArrayBufferLike, memory: StepMemory) {
    this.#words = new Uint32Array(buffer);
    this.#memory = memory;
  }

  get numRows(): number {
    return this.#word(this.#memory.head);
  }

  get numSamples(): number {
    return this.#word(this.#memory.head + 4);
  }

  /** Returns the sequences of a model with states, in the order of their rows. */
  sequences(): StatedSequence[] {
    const { head, states, keeps } = this.#memory;
    return Array.from({ length: this.#word(head + 8) }, (_, i) => {
      const at = (field: number) => this.#word(states + 4 * (i * STATE_WORDS + field));
      const keepAt = (n: number, field: number) => this.#word(keeps + 4 * ((at(4) + n) * KEEP_WORDS + field));
      return {
        firstRow: at(0),
        numRows: at(1),
        from: at(2),
        to: at(3),
        keeps: Array.from({ length: at(5) }, (_keep, n) => ({ rows: keepAt(n, 0), slot: keepAt(n, 1) })),
      };
    });
  }

  token(row: number): number {
    const token = this.#row(row, 0);
    const { history, maxLength } = this.#memory;
    return token === UNKNOWN ? this.#word(history + 4 * (this.slot(row) * maxLength + this.position(row))) : token;
  }

  position(row: number): number {
    return this.#row(row, 1);
  }

  slot(row: number): number {
    return this.#row(row, 2);
  }

  /** Returns the first position of the row's sequence in this step. */
  start(row: number): number {
    return this.#row(row, 3);
  }

  sampledRow(sample: number): number {
    return this.#word(this.#memory.samples + 4 * sample * SAMPLE_WORDS);
  }

  table(slot: number): number {
    return this.#memory.tables + 4 * slot * this.#memory.maxBlocks;
  }

  block(slot: number, index: number): number {
    return this.#word(this.table(slot) + 4 * index);
  }

  #row(row: number, field: number): number {
    return this.#word(this.#memory.rows + 4 * (row * ROW_WORDS + field));
  }

  #word(address: number): number {
    return this.#words[address / 4] ?? 0;
  }
}
