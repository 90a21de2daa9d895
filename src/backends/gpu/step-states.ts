import { NO_STATE, type PlannedSequence } from "../../engine/step-plan.ts";
import type { Arena } from "./arena.ts";
import { padTo, SECTION_BYTES } from "./padding.ts";

/** Words of a sequence: its first row, its rows, and the slots that it reads and writes. As in shaders/lib/states.wgsl. */
const SEQUENCE_WORDS = 4;

/** What a step does with states: one buffer, written once per step and bound in two parts. */
export class StepStates {
  readonly sequences: GPUBufferBinding;
  /** The slot that gets the state after each row; NO_STATE for most. */
  readonly kept: GPUBufferBinding;
  readonly #buffer: GPUBuffer;
  readonly #words: Uint32Array<ArrayBuffer>;
  readonly #kept: Uint32Array<ArrayBuffer>;

  constructor(arena: Arena, { maxSlots, maxRows }: { readonly maxSlots: number; readonly maxRows: number }) {
    const keptOffset = padTo(SECTION_BYTES, 4 * SEQUENCE_WORDS * maxSlots);
    this.#words = new Uint32Array(keptOffset / 4 + maxRows);
    this.#kept = this.#words.subarray(keptOffset / 4);
    this.#buffer = arena.storage("states of the step", this.#words.byteLength);
    this.sequences = { buffer: this.#buffer, offset: 0, size: keptOffset };
    this.kept = { buffer: this.#buffer, offset: keptOffset, size: 4 * maxRows };
  }

  /** Writes the sequences of a step: their rows follow each other. */
  write(queue: GPUQueue, sequences: readonly PlannedSequence[]): void {
    let row = 0;
    for (const [i, { numRows, state }] of sequences.entries()) {
      const { from = NO_STATE, to = NO_STATE, keeps = [] } = state ?? {};
      this.#words.set([row, numRows, from, to], SEQUENCE_WORDS * i);
      this.#kept.fill(NO_STATE, row, row + numRows);
      for (const { rows, slot } of keeps) this.#kept[row + rows - 1] = slot;
      row += numRows;
    }
    queue.writeBuffer(this.#buffer, 0, this.#words, 0, this.#words.length - this.#kept.length + row);
  }
}
