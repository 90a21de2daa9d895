import {
  ROW_WORDS,
  type DrawNeeds,
  type ScoredToken,
  type SlotRules,
  type SlotUpdate,
  type StepPlan,
} from "../../engine/step-plan.ts";
import type { LogprobsMode } from "../../protocol/config.ts";
import type { Arena } from "./arena.ts";
import type { StepSize } from "./kernel.ts";
import { padTo, SECTION_BYTES } from "./padding.ts";
import { NO_TILES, SPAN_WORDS, writeSpans, type QueryTiles } from "./query-tiles.ts";
import { packRules, ruleTableShape, type RuleTableShape } from "../rule-table.ts";
import { SAMPLE_WORDS, SampleFlag, SampleView, writeSample } from "../sample-record.ts";
import type { StepLimits } from "../step-limits.ts";
import { BufferUsage } from "./flags.ts";
import { StepStates } from "./step-states.ts";

interface Sizes extends StepLimits {
  readonly vocabSize: number;
  readonly logprobsMode: LogprobsMode;
  /** Whether the model keeps states of sequences. [false] */
  readonly hasStates?: boolean;
}

export interface SampleKinds {
  readonly anyRules: boolean;
  /** Whether any sample is plain: see sample-plain.wgsl. */
  readonly anyPlain: boolean;
  readonly anyOther: boolean;
  /** The largest number of top log-probabilities that a sample requests. */
  readonly maxTop: number;
}

/** The properties of a step that determine its dispatches. */
export type StepShape = StepSize & SampleKinds;

/**
 * The kernels' view of a step: one buffer, written once per step and bound in four parts.
 *
 *   0            256                         spansOffset         rowsOffset
 *   | Step       | Sample x maxSamples ...   | Span x maxRows ... | Row x maxRows ...      |
 *   | rows,      | row, slot, parameters     | first row,         | token, position, slot, |
 *   | samples,   |                           | number of rows     | start (as many as used)|
 *   | tiles      |                           |                    |                        |
 *
 * Block tables [maxSlots, maxBlocks] are a separate buffer, since a table changes only once per block of tokens. Sequences
 * with rules also have their tokens [maxSlots, maxLength] and rules [maxSlots, ..] in separate buffers, written when they
 * get their slot.
 */
export class StepBuffer {
  readonly maxRows: number;
  readonly step: GPUBufferBinding;
  readonly samples: GPUBufferBinding;
  readonly rows: GPUBufferBinding;
  /** A sample for each row, of which only the row is set: for kernels that take the samples' rows. */
  readonly allRows: GPUBuffer;
  /** The rows that attention takes together: see query-tiles.ts. */
  readonly spans: GPUBufferBinding;
  /** How the rows of later steps are grouped into spans. */
  tiles: QueryTiles = NO_TILES;
  readonly blockTables: GPUBuffer;
  readonly history: GPUBuffer;
  readonly rules: GPUBuffer;
  /** Grammars' masks of the next token: [samples with a grammar, maskWords]. */
  readonly masks: GPUBuffer;
  readonly ruleShape: RuleTableShape;
  /** null for models that keep no states. */
  readonly states: StepStates | null;

  readonly #buffer: GPUBuffer;
  readonly #words: Uint32Array<ArrayBuffer>;
  readonly #sample: SampleView;
  readonly #limits: Sizes;
  readonly #rowsWord: number;
  readonly #spans: Uint32Array<ArrayBuffer>;
  readonly #tables: Uint32Array<ArrayBuffer>;
  readonly #masks: Uint32Array<ArrayBuffer>;

  constructor(arena: Arena, limits: Sizes) {
    const { maxRows, maxSamples, maxSlots, maxBlocks, maxLength, vocabSize, hasStates = false } = limits;
    this.maxRows = maxRows;
    this.#limits = limits;
    const samplesBytes = padTo(SECTION_BYTES, maxSamples * SAMPLE_WORDS * 4);
    const spansOffset = SECTION_BYTES + samplesBytes;
    const spansBytes = padTo(SECTION_BYTES, maxRows * SPAN_WORDS * 4);
    const rowsOffset = spansOffset + spansBytes;
    const bytes = rowsOffset + maxRows * ROW_WORDS * 4;
    this.#buffer = arena.storage("step", bytes, BufferUsage.UNIFORM);
    this.step = { buffer: this.#buffer, offset: 0, size: 16 };
    this.samples = { buffer: this.#buffer, offset: SECTION_BYTES, size: samplesBytes };
    this.spans = { buffer: this.#buffer, offset: spansOffset, size: spansBytes };
    this.rows = { buffer: this.#buffer, offset: rowsOffset, size: maxRows * ROW_WORDS * 4 };
    this.allRows = arena.upload("all rows", samplesOf(maxRows));
    this.#words = new Uint32Array(bytes / 4);
    this.#sample = new SampleView(this.#words.buffer);
    this.#rowsWord = rowsOffset / 4;
    this.#spans = this.#words.subarray(spansOffset / 4, rowsOffset / 4);
    this.#tables = new Uint32Array(maxSlots * maxBlocks);
    this.blockTables = arena.storage("block tables", this.#tables.byteLength);
    this.ruleShape = ruleTableShape(vocabSize);
    this.history = arena.storage("history", 4 * maxSlots * maxLength);
    this.rules = arena.storage("rules", 4 * maxSlots * this.ruleShape.words);
    this.#masks = new Uint32Array(maxSlots * this.ruleShape.maskWords);
    this.masks = arena.storage("masks", this.#masks.byteLength);
    this.states = hasStates ? new StepStates(arena, limits) : null;
  }

  /** Writes a step: at most three writes, one for states, and two per sequence with rules that is new, has drafts or is a beam. */
  write(queue: GPUQueue, plan: StepPlan): StepShape {
    const shape = this.#fill(plan);
    queue.writeBuffer(this.#buffer, 0, this.#words, 0, this.#rowsWord + plan.rows.length);
    this.#writeTables(queue, plan.blockTables);
    this.#writeHistories(queue, plan.histories);
    this.#writeRules(queue, plan.rules);
    this.#writeMasks(queue, plan.masks);
    this.states?.write(queue, plan.sequences);
    return shape;
  }

  /** Writes only a number of rows, each with a sample, to compute products without a step. */
  writeRows(queue: GPUQueue, rows: number): void {
    const numSamples = Math.min(rows, this.#limits.maxSamples);
    queue.writeBuffer(this.#buffer, 0, Uint32Array.of(rows, rows));
    queue.writeBuffer(this.#buffer, SECTION_BYTES, samplesOf(numSamples));
  }

  #fill({ sequences, rows, samples }: StepPlan): StepShape {
    const words = this.#words;
    const numRows = rows.length / ROW_WORDS;
    words[0] = numRows;
    words[1] = samples.length;
    const { tiles, singles } = writeSpans(this.#spans, sequences, this.tiles);
    words[2] = tiles;
    words.set(rows, this.#rowsWord);
    let at = SECTION_BYTES / 4;
    for (const sample of samples) {
      this.#sample.at = at;
      writeSample(this.#sample, sample, this.#isPlain(sample) ? SampleFlag.plain : 0);
      at += SAMPLE_WORDS;
    }
    let longest = 0;
    for (const { start, numRows: count } of sequences) longest = Math.max(longest, start + count);
    const sizes = { rows: numRows, sequences: sequences.length, samples: samples.length, tiles, singles, longest };
    return { ...sizes, ...this.kindsOf(samples) };
  }

  /** Returns which kernels the samples need. */
  kindsOf(samples: readonly (ScoredToken | DrawNeeds)[]): SampleKinds {
    let anyRules = false;
    let anyPlain = false;
    let anyOther = false;
    let maxTop = 0;
    for (const sample of samples) {
      const isPlain = this.#isPlain(sample);
      anyPlain ||= isPlain;
      anyOther ||= !isPlain;
      anyRules ||= sample.kind === "draw" && sample.isProcessed;
      maxTop = Math.max(maxTop, sample.numTop);
    }
    return { anyRules, anyPlain, anyOther, maxTop };
  }

  /** Returns whether the raw logits suffice: for a prompt's token, the likeliest one, or a draw from all of them. */
  #isPlain(sample: ScoredToken | DrawNeeds): boolean {
    if (sample.kind === "score") return true;
    if (sample.isProcessed || this.#limits.logprobsMode === "processed_logprobs") return false;
    const { temperature, topK, topP, minP, typicalP } = sample.params;
    const isFiltered = (topK > 0 && topK < this.#limits.vocabSize) || topP < 1 || minP > 0 || typicalP < 1;
    return temperature === 0 || !isFiltered;
  }

  /** Uploads all changes of block tables as one range. */
  #writeTables(queue: GPUQueue, updates: readonly SlotUpdate[]): void {
    let first = Infinity;
    let end = 0;
    for (const { slot, start, values } of updates) {
      const at = slot * this.#limits.maxBlocks + start;
      this.#tables.set(values, at);
      first = Math.min(first, at);
      end = Math.max(end, at + values.length);
    }
    if (first < end) queue.writeBuffer(this.blockTables, 4 * first, this.#tables, first, end - first);
  }

  #writeHistories(queue: GPUQueue, updates: readonly SlotUpdate[]): void {
    for (const { slot, start, values } of updates) {
      queue.writeBuffer(this.history, 4 * (slot * this.#limits.maxLength + start), new Uint32Array(values));
    }
  }

  #writeRules(queue: GPUQueue, newRules: readonly SlotRules[]): void {
    const { words } = this.ruleShape;
    for (const { slot, rules } of newRules) {
      queue.writeBuffer(this.rules, 4 * slot * words, packRules(rules, this.ruleShape));
    }
  }

  #writeMasks(queue: GPUQueue, masks: readonly Uint32Array[]): void {
    const { maskWords } = this.ruleShape;
    for (const [i, mask] of masks.entries()) this.#masks.set(mask, i * maskWords);
    if (masks.length > 0) queue.writeBuffer(this.masks, 0, this.#masks, 0, masks.length * maskWords);
  }
}

/** Returns samples of the first rows, with no other field set. */
function samplesOf(numRows: number): Uint32Array<ArrayBuffer> {
  const words = new Uint32Array(numRows * SAMPLE_WORDS);
  for (let i = 0; i < numRows; i++) words[i * SAMPLE_WORDS] = i;
  return words;
}
