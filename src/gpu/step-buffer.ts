import type { ScheduledSequence } from "../engine/runner.ts";
import type { Sequence } from "../engine/sequence.ts";
import type { Arena } from "./arena.ts";
import { padTo } from "./padding.ts";

/** Token of a row whose id lies on the GPU, in its slot's feedback cell. The same number is in shaders/lib/step.wgsl. */
export const FEEDBACK = 0xffffffff;

const ROW_WORDS = 4;
const SAMPLE_WORDS = 8;
/** WebGPU's strictest alignment of a bound offset. */
const SECTION_BYTES = 256;

/**
 * What a step computes, as the kernels read it: one buffer, written once a step, bound in three parts.
 *
 *   0            256                         rowsOffset
 *   | Step       | Sample x maxSamples ...   | Row x maxRows ...      |
 *   | rows,      | row, slot, parameters     | token, position, slot  |
 *   | samples    |                           | (only as many as used) |
 *
 * Block tables [maxSamples slots, maxBlocks] are a buffer of their own: they change once in a block's worth of tokens.
 */
export class StepBuffer {
  readonly step: GPUBufferBinding;
  readonly samples: GPUBufferBinding;
  readonly rows: GPUBufferBinding;
  readonly blockTables: GPUBuffer;

  readonly #buffer: GPUBuffer;
  readonly #words: Uint32Array<ArrayBuffer>;
  readonly #floats: Float32Array<ArrayBuffer>;
  readonly #rowsWord: number;
  readonly #maxBlocks: number;
  readonly #tables: Uint32Array<ArrayBuffer>;
  /** Of each slot: whose sampled id lies in its feedback cell, and for which position. */
  readonly #feedback: ({ sequence: Sequence; position: number } | undefined)[];

  constructor(
    arena: Arena,
    { maxRows, maxSlots, maxBlocks }: { maxRows: number; maxSlots: number; maxBlocks: number },
  ) {
    const samplesBytes = padTo(SECTION_BYTES, maxSlots * SAMPLE_WORDS * 4);
    const rowsOffset = SECTION_BYTES + samplesBytes;
    const bytes = rowsOffset + maxRows * ROW_WORDS * 4;
    this.#buffer = arena.storage("step", bytes, GPUBufferUsage.UNIFORM);
    this.step = { buffer: this.#buffer, offset: 0, size: 16 };
    this.samples = { buffer: this.#buffer, offset: SECTION_BYTES, size: samplesBytes };
    this.rows = { buffer: this.#buffer, offset: rowsOffset, size: maxRows * ROW_WORDS * 4 };
    this.#words = new Uint32Array(bytes / 4);
    this.#floats = new Float32Array(this.#words.buffer);
    this.#rowsWord = rowsOffset / 4;
    this.#maxBlocks = maxBlocks;
    this.#tables = new Uint32Array(maxSlots * maxBlocks);
    this.#feedback = Array.from({ length: maxSlots });
    this.blockTables = arena.storage("block tables", this.#tables.byteLength);
  }

  /** Writes a step; two writes at most. */
  write(queue: GPUQueue, step: readonly ScheduledSequence[]): { rows: number; samples: number } {
    const { rows, samples } = this.#fill(step);
    queue.writeBuffer(this.#buffer, 0, this.#words, 0, this.#rowsWord + rows * ROW_WORDS);
    this.#writeTables(queue, step);
    return { rows, samples };
  }

  #fill(step: readonly ScheduledSequence[]): { rows: number; samples: number } {
    const words = this.#words;
    let rows = 0;
    let samples = 0;
    for (const { sequence, start, count, samples: draws } of step) {
      const slot = slotOf(sequence);
      const held = this.#feedback[slot];
      const feedbackPosition = held?.sequence === sequence ? held.position : -1;
      for (let position = start; position < start + count; position++) {
        const at = this.#rowsWord + rows++ * ROW_WORDS;
        words[at] = position === feedbackPosition ? FEEDBACK : knownToken(sequence, position);
        words[at + 1] = position;
        words[at + 2] = slot;
      }
      if (!draws) continue;
      this.#feedback[slot] = { sequence, position: start + count };
      const { params } = sequence;
      const at = SECTION_BYTES / 4 + samples++ * SAMPLE_WORDS;
      words[at] = rows - 1;
      words[at + 1] = slot;
      words[at + 2] = start + count - sequence.promptLength;
      this.#floats[at + 3] = params.temperature;
      words[at + 4] = Math.min(params.topK, 0xffffffff);
      this.#floats[at + 5] = params.topP;
      words[at + 6] = params.seed % 2 ** 32;
      words[at + 7] = Math.floor(params.seed / 2 ** 32);
    }
    words[0] = rows;
    words[1] = samples;
    return { rows, samples };
  }

  /** Uploads the slots whose block tables are not what the GPU has, as one range. */
  #writeTables(queue: GPUQueue, step: readonly ScheduledSequence[]): void {
    let first = Infinity;
    let last = -1;
    for (const { sequence } of step) {
      const base = slotOf(sequence) * this.#maxBlocks;
      const { blockTable } = sequence;
      for (let i = blockTable.length - 1; i >= 0; i--) {
        const block = blockTable[i] ?? 0;
        if (this.#tables[base + i] === block) continue;
        this.#tables[base + i] = block;
        first = Math.min(first, base + i);
        last = Math.max(last, base + i);
      }
    }
    if (last >= 0) queue.writeBuffer(this.blockTables, 4 * first, this.#tables, first, last - first + 1);
  }
}

function knownToken(sequence: Sequence, position: number): number {
  const token = sequence.tokens[position];
  if (token === undefined) throw new Error(`token ${position} of ${sequence.requestId}#${sequence.index} is not known`);
  return token;
}

function slotOf(sequence: Sequence): number {
  if (sequence.slot === null)
    throw new Error(`sequence ${sequence.requestId}#${sequence.index} is scheduled without a slot`);
  return sequence.slot;
}
