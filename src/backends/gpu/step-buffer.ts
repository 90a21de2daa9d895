import { writeMask } from "../../engine/grammar-matcher.ts";
import { hasRules } from "../../engine/logit-rules.ts";
import type { ScheduledSequence } from "../../engine/runner.ts";
import type { Sequence } from "../../engine/sequence.ts";
import type { Arena } from "./arena.ts";
import type { StepSize } from "./kernel.ts";
import { padTo } from "./padding.ts";
import { packRules, ruleTableShape, type RuleTableShape } from "./rule-table.ts";

/** Token of a row whose id lies on the GPU, in its slot's feedback cell. The same number is in shaders/lib/step.wgsl. */
export const FEEDBACK = 0xffffffff;

const ROW_WORDS = 4;
const SAMPLE_WORDS = 19;
/** Bits of a sample's flags, as in shaders/lib/step.wgsl. */
const PROCESSED = 1;
const TOO_EARLY = 2;
const NORMALISED = 4;
const MASKED = 8;
const SCORED = 16;
/** WebGPU's strictest alignment of a bound offset. */
const SECTION_BYTES = 256;

export interface StepLimits {
  readonly maxRows: number;
  readonly maxSamples: number;
  readonly maxSlots: number;
  /** Of a sequence. */
  readonly maxBlocks: number;
  /** Tokens of a sequence. */
  readonly maxLength: number;
  readonly vocabSize: number;
}

/** What decides which kernels a step needs, and of which size. */
export interface StepShape extends StepSize {
  /** Whether any sample's logits have to be processed. */
  readonly anyRules: boolean;
  /** Most top log-probabilities that any sample wants. */
  readonly maxTop: number;
}

/**
 * What a step computes, as the kernels read it: one buffer, written once a step, bound in three parts.
 *
 *   0            256                         rowsOffset
 *   | Step       | Sample x maxSamples ...   | Row x maxRows ...      |
 *   | rows,      | row, slot, parameters     | token, position, slot, |
 *   | samples    |                           | start (as many as used)|
 *
 * Block tables [maxSlots, maxBlocks] are a buffer of their own: they change once in a block's worth of tokens. So are, for
 * sequences with rules, their tokens [maxSlots, maxLength] and rules [maxSlots, ..]: written when they get their slot.
 */
export class StepBuffer {
  readonly step: GPUBufferBinding;
  readonly samples: GPUBufferBinding;
  readonly rows: GPUBufferBinding;
  readonly blockTables: GPUBuffer;
  readonly history: GPUBuffer;
  readonly rules: GPUBuffer;
  /** What grammars let come next [samples that have one, maskWords], one after the other. */
  readonly masks: GPUBuffer;
  readonly ruleShape: RuleTableShape;

  readonly #buffer: GPUBuffer;
  readonly #words: Uint32Array<ArrayBuffer>;
  readonly #floats: Float32Array<ArrayBuffer>;
  readonly #rowsWord: number;
  readonly #maxBlocks: number;
  readonly #tables: Uint32Array<ArrayBuffer>;
  /** Of each slot: whose sampled id lies in its feedback cell, and for which position. */
  readonly #feedback: ({ sequence: Sequence; position: number } | undefined)[];
  readonly #maxLength: number;
  /** Of each slot: whose rules and tokens the GPU has. */
  readonly #ruled: (Sequence | undefined)[];
  readonly #masks: Uint32Array<ArrayBuffer>;
  #numMasks = 0;

  constructor(arena: Arena, { maxRows, maxSamples, maxSlots, maxBlocks, maxLength, vocabSize }: StepLimits) {
    const samplesBytes = padTo(SECTION_BYTES, maxSamples * SAMPLE_WORDS * 4);
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
    this.#maxLength = maxLength;
    this.#ruled = Array.from({ length: maxSlots });
    this.ruleShape = ruleTableShape(vocabSize);
    this.history = arena.storage("history", 4 * maxSlots * maxLength);
    this.rules = arena.storage("rules", 4 * maxSlots * this.ruleShape.words);
    this.#masks = new Uint32Array(maxSlots * this.ruleShape.maskWords);
    this.masks = arena.storage("masks", this.#masks.byteLength);
  }

  /** Writes a step; three writes at most, and up to three for each sequence with rules that is new, drafts or is a beam. */
  write(queue: GPUQueue, step: readonly ScheduledSequence[]): StepShape {
    const shape = this.#fill(step);
    queue.writeBuffer(this.#buffer, 0, this.#words, 0, this.#rowsWord + shape.rows * ROW_WORDS);
    this.#writeTables(queue, step);
    this.#writeRules(queue, step);
    if (this.#numMasks > 0) queue.writeBuffer(this.masks, 0, this.#masks, 0, this.#numMasks * this.ruleShape.maskWords);
    return shape;
  }

  /** For products that are measured without a step: so many rows. */
  writeRows(queue: GPUQueue, rows: number): void {
    queue.writeBuffer(this.#buffer, 0, new Uint32Array([rows, 0]));
  }

  #fill(step: readonly ScheduledSequence[]): StepShape {
    const words = this.#words;
    let rows = 0;
    let samples = 0;
    let anyRules = false;
    let maxTop = 0;
    let longest = 0;
    this.#numMasks = 0;
    for (const { sequence, start, count, samples: draws, drafts, scored } of step) {
      const slot = slotOf(sequence);
      const held = this.#feedback[slot];
      const feedbackPosition = held?.sequence === sequence ? held.position : -1;
      const newest = start + count - drafts.length;
      longest = Math.max(longest, start + count);
      for (let i = 0; i < scored; i++) this.#writeScore(samples++, rows + i, sequence, start + i + 1);
      if (scored > 0) maxTop = Math.max(maxTop, sequence.params.promptLogprobs ?? 0);
      for (let position = start; position < start + count; position++) {
        const at = this.#rowsWord + rows++ * ROW_WORDS;
        const draft = drafts[position - newest];
        words[at] = position === feedbackPosition ? FEEDBACK : (draft ?? knownToken(sequence, position));
        words[at + 1] = position;
        words[at + 2] = slot;
        words[at + 3] = start;
      }
      if (!draws) continue;
      // After drafts, and of beams, the host knows which of the samples count, and brings the token itself.
      const isFedBack = drafts.length === 0 && sequence.group === null;
      this.#feedback[slot] = isFedBack ? { sequence, position: newest } : undefined;
      anyRules ||= isProcessed(sequence);
      maxTop = Math.max(maxTop, sequence.params.topLogprobs);
      for (let i = 0; i <= drafts.length; i++) {
        this.#writeSample(samples++, rows - 1 - drafts.length + i, sequence, newest + i);
      }
    }
    words[0] = rows;
    words[1] = samples;
    return { rows, samples, longest, anyRules, maxTop };
  }

  /** @param position of the token that is scored */
  #writeScore(sample: number, row: number, sequence: Sequence, position: number): void {
    const words = this.#words;
    const at = SECTION_BYTES / 4 + sample * SAMPLE_WORDS;
    words.fill(0, at, at + SAMPLE_WORDS);
    words[at] = row;
    words[at + 1] = slotOf(sequence);
    words[at + 15] = sequence.params.promptLogprobs ?? 0;
    words[at + 16] = SCORED;
    words[at + 18] = knownToken(sequence, position);
  }

  /** @param position of the token that is drawn */
  #writeSample(sample: number, row: number, sequence: Sequence, position: number): void {
    const words = this.#words;
    const floats = this.#floats;
    const { params, promptLength, matcher } = sequence;
    const outputIndex = position - promptLength;
    const at = SECTION_BYTES / 4 + sample * SAMPLE_WORDS;
    words[at] = row;
    words[at + 1] = slotOf(sequence);
    words[at + 2] = outputIndex;
    floats[at + 3] = params.temperature;
    words[at + 4] = Math.min(params.topK, 0xffffffff);
    floats[at + 5] = params.topP;
    words[at + 6] = params.seed % 2 ** 32;
    words[at + 7] = Math.floor(params.seed / 2 ** 32);
    floats[at + 8] = params.minP;
    floats[at + 9] = params.typicalP;
    floats[at + 10] = params.repetitionPenalty;
    floats[at + 11] = params.frequencyPenalty;
    floats[at + 12] = params.presencePenalty;
    words[at + 13] = params.noRepeatNgramSize;
    words[at + 14] = promptLength;
    words[at + 15] = params.topLogprobs;
    words[at + 16] =
      (isProcessed(sequence) ? PROCESSED : 0) |
      (matcher === null && outputIndex < params.minTokens ? TOO_EARLY : 0) |
      (sequence.group !== null ? NORMALISED : 0) |
      (matcher !== null ? MASKED : 0);
    if (matcher === null) return;
    const { maskWords } = this.ruleShape;
    const mask = this.#masks.subarray(this.#numMasks * maskWords, (this.#numMasks + 1) * maskWords);
    writeMask(matcher, params, outputIndex, mask);
    words[at + 17] = this.#numMasks++;
  }

  /**
   * Uploads rules and tokens of sequences that are new in their slots (nothing of theirs is in flight), drafts, and what
   * beams have gone on with.
   */
  #writeRules(queue: GPUQueue, step: readonly ScheduledSequence[]): void {
    for (const { sequence, drafts } of step) {
      const slot = slotOf(sequence);
      const isNew = this.#ruled[slot] !== sequence;
      this.#ruled[slot] = sequence;
      if (!isProcessed(sequence)) continue;
      const base = slot * this.#maxLength;
      if (drafts.length > 0) {
        queue.writeBuffer(this.history, 4 * (base + sequence.tokens.length), new Uint32Array(drafts));
      }
      if (isNew || sequence.group !== null) {
        queue.writeBuffer(this.history, 4 * base, new Uint32Array(sequence.tokens));
      }
      if (!isNew) continue;
      const { words } = this.ruleShape;
      queue.writeBuffer(this.rules, 4 * slot * words, packRules(sequence.params, this.ruleShape));
    }
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

/** Whether it draws from other logits than the model's, or as a beam from their log-probabilities. */
function isProcessed({ params, group, matcher }: Sequence): boolean {
  return group !== null || matcher !== null || hasRules(params);
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
