// A thread's part of gated delta nets. First rows are shared, then heads of sequences: each head's state goes through the
// sequence's rows in order.

import type { Kernels } from "../kernels/signatures.ts";
import { NO_STATE } from "../../../engine/step-plan.ts";
import { attentionShares } from "./attention-share.ts";
import type { DeltaInputsOperation, DeltaNetPlace, DeltaRuleOperation, StatePlace } from "./operation.ts";
import type { Share } from "./share.ts";
import type { StatedSequence, StepView } from "./step-memory.ts";

/** Rows of a sequence, all of its step or those up to a state that is kept, with the slots before and after them. */
interface Piece {
  readonly firstRow: number;
  readonly endRow: number;
  readonly from: number;
  readonly to: number;
}

/** Heads of a sequence that a thread takes through its pieces. */
interface Part {
  readonly sequence: StatedSequence;
  readonly pieces: readonly Piece[];
  readonly begin: number;
  readonly end: number;
}

export class DeltaNetThread {
  readonly #kernels: Kernels;
  readonly #view: StepView;
  readonly #floats: Float32Array;
  /** Of this step: the same in all layers. */
  #sequences: readonly StatedSequence[] | null = null;
  #parts: readonly Part[] | null = null;

  constructor(kernels: Kernels, buffer: ArrayBufferLike, view: StepView) {
    this.#kernels = kernels;
    this.#floats = new Float32Array(buffer);
    this.#view = view;
  }

  /** Another step is in the memory. */
  beginStep(): void {
    this.#sequences = null;
    this.#parts = null;
  }

  /** Computes rows of [q | k | v | beta | decay], which the rule reads. */
  prepare({ x, inputs, net }: DeltaInputsOperation, { begin, end }: Share): void {
    const { v, beta } = net.offsets;
    for (const sequence of (this.#sequences ??= this.#view.sequences())) {
      const { firstRow, numRows } = sequence;
      for (let row = Math.max(begin, firstRow); row < Math.min(end, firstRow + numRows); row++) {
        const to = inputs.address + row * inputs.stride;
        this.#convolve(x, net, sequence, row, to);
        // It lies behind [q | k | v] and z, which is as wide as v.
        const b = x.address + row * x.stride + beta + (beta - v);
        this.#kernels.delta_inputs(to, b, net.rate, net.dtBias);
      }
    }
  }

  #convolve(x: DeltaInputsOperation["x"], net: DeltaNetPlace, sequence: StatedSequence, row: number, to: number): void {
    const { taps, kernel, offsets, states } = net;
    const { firstRow, from } = sequence;
    const earliest = from === NO_STATE ? Math.max(0, taps - 1 - (row - firstRow)) : 0;
    for (let t = earliest; t < taps; t++) {
      const after = row - firstRow - (taps - 1 - t);
      const at = after < 0 ? keptAt(states, from, after) : x.address + (firstRow + after) * x.stride;
      const multiply = t === earliest ? this.#kernels.multiply : this.#kernels.multiply_add;
      multiply(to, at, kernel.address + t * kernel.stride, offsets.beta);
    }
  }

  /** Takes this thread's heads through the rows of their sequences, and leaves the states where the plan says. */
  remember(operation: DeltaRuleOperation, thread: number, threads: number): void {
    const parts = this.#parts ?? this.#partsOf(operation, thread, threads);
    this.#parts = parts;
    for (const { sequence, pieces, begin, end } of parts) {
      for (const piece of pieces) {
        for (let head = begin; head < end; head++) this.#computeHead(operation, piece, head);
        if (begin === 0) this.#keepRows(operation, sequence, piece);
      }
    }
  }

  #partsOf({ net }: DeltaRuleOperation, thread: number, threads: number): Part[] {
    const sequences = (this.#sequences ??= this.#view.sequences());
    const lengths = sequences.map(({ numRows }) => numRows);
    return attentionShares(lengths, net.valueHeads, thread, threads).flatMap(({ row, begin, end }) => {
      const sequence = sequences[row];
      return sequence ? [{ sequence, pieces: this.#piecesOf(sequence), begin, end }] : [];
    });
  }

  /** The state after a piece is where the next one begins. */
  #piecesOf({ firstRow, numRows, from, to, keeps }: StatedSequence): readonly Piece[] {
    const pieces: Piece[] = [];
    for (const { rows, slot } of [...keeps, { rows: numRows, slot: to }]) {
      const last = pieces.at(-1) ?? { endRow: firstRow, to: from };
      pieces.push({ firstRow: last.endRow, endRow: firstRow + rows, from: last.to, to: slot });
    }
    return pieces;
  }

  #computeHead({ x, inputs, y, net }: DeltaRuleOperation, { firstRow, endRow, from, to }: Piece, head: number): void {
    const { keyHeads, valueHeads, keyDim, valueDim, offsets, states } = net;
    const size = keyDim * valueDim;
    const stateOf = (slot: number) => states.address + slot * states.stride + states.rowsBytes + 4 * head * size;
    const state = stateOf(to);
    if (from === NO_STATE) this.#floats.fill(0, state / 4, state / 4 + size);
    else if (from !== to) this.#floats.copyWithin(state / 4, stateOf(from) / 4, stateOf(from) / 4 + size);
    const keyHead = net.headOrder === "tiled" ? head % keyHeads : Math.floor(head / (valueHeads / keyHeads));
    const at = inputs.address + firstRow * inputs.stride;
    const values = 4 * head * valueDim;
    const output = y.address + values;
    this.#kernels.delta_rule(
      state,
      at + 4 * keyHead * keyDim,
      at + offsets.v + values,
      at + offsets.beta + 4 * head,
      inputs.stride,
      output + firstRow * y.stride,
      y.stride,
      endRow - firstRow,
    );
    for (let row = firstRow; row < endRow; row++) {
      const answer = output + row * y.stride;
      this.#kernels.rms_norm(answer, answer, net.gamma, 4 * valueDim, valueDim, net.epsilon);
      this.#kernels.multiply_silu(answer, x.address + row * x.stride + offsets.beta + values, 4 * valueDim);
    }
  }

  /** Keeps the last rows that the convolution has read. In place they move up, so the oldest comes first. */
  #keepRows({ x, net }: DeltaRuleOperation, { firstRow, from }: StatedSequence, { endRow, to }: Piece): void {
    const { states } = net;
    const width = states.rowBytes / 4;
    for (let before = -states.count; before < 0; before++) {
      const after = endRow + before - firstRow;
      const kept = keptAt(states, to, before) / 4;
      const source = after < 0 ? keptAt(states, from, after) : x.address + (firstRow + after) * x.stride;
      if (after < 0 && from === NO_STATE) this.#floats.fill(0, kept, kept + width);
      else this.#floats.copyWithin(kept, source / 4, source / 4 + width);
    }
  }
}

/** @param before -1 for the last row */
function keptAt({ address, stride, count, rowBytes }: StatePlace, slot: number, before: number): number {
  return address + slot * stride + (count + before) * rowBytes;
}
