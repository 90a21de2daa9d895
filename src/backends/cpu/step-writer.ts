import type { SampledToken } from "../../engine/runner.ts";
import type { PlannedSequence, Sample, SlotRules, SlotUpdate, StepPlan } from "../../engine/step-plan.ts";
import { KEEP_WORDS, ROW_WORDS, STATE_WORDS, type StepMemory } from "./program/step-memory.ts";
import { packRules, ruleTableShape } from "../rule-table.ts";
import { readSample, SAMPLE_WORDS, SampleView, writeSample } from "../sample-record.ts";
import { RESULT_WORDS, type SamplerMemory } from "./sampler/sampler.ts";

/** Writes plans to the memory that threads read, and reads the drawn tokens from it. */
export class StepWriter {
  readonly #view: SampleView;
  readonly #words: Uint32Array;
  readonly #step: StepMemory;
  readonly #sampler: SamplerMemory;

  constructor(buffer: ArrayBufferLike, step: StepMemory, sampler: SamplerMemory) {
    this.#view = new SampleView(buffer);
    this.#words = new Uint32Array(buffer);
    this.#step = step;
    this.#sampler = sampler;
  }

  /** Writes a plan. FEEDBACK equals UNKNOWN: such a row's token is the one at its position in the slot's history. */
  write({ sequences, rows, samples, blockTables, histories, rules, masks }: StepPlan): void {
    const { head, rows: rowsAt, samples: samplesAt, tables, maxBlocks, history, maxLength } = this.#step;
    this.#words[head / 4] = rows.length / ROW_WORDS;
    this.#words[head / 4 + 1] = samples.length;
    this.#words.set(rows, rowsAt / 4);
    samples.forEach((sample, i) => {
      this.#view.at = samplesAt / 4 + i * SAMPLE_WORDS;
      writeSample(this.#view, sample);
    });
    this.#update(tables, maxBlocks, blockTables);
    this.#update(history, maxLength, histories);
    if (this.#step.numStates > 0) this.#writeStates(sequences);
    this.#writeRules(rules);
    const { vocabSize, masks: masksAt } = this.#sampler;
    const { maskWords } = ruleTableShape(vocabSize);
    masks.forEach((mask, i) => this.#words.set(mask, masksAt / 4 + i * maskWords));
  }

  /** Returns the results of the samples of the last computed plan. */
  results(samples: readonly Sample[]): SampledToken[] {
    return samples.map((sample, i) => {
      const at = this.#sampler.results / 4 + i * RESULT_WORDS;
      return readSample(this.#words, sample, { at, topAt: at + 3, numTop: this.#words[at + 2] ?? 0 });
    });
  }

  #update(table: number, width: number, updates: readonly SlotUpdate[]): void {
    for (const { slot, start, values } of updates) this.#words.set(values, table / 4 + slot * width + start);
  }

  #writeStates(sequences: readonly PlannedSequence[]): void {
    const { head, states, keeps: keepsAt } = this.#step;
    let [firstRow, firstKeep] = [0, 0];
    this.#words[head / 4 + 2] = sequences.length;
    for (const [i, { numRows, state }] of sequences.entries()) {
      if (!state) throw new Error("a sequence has no state");
      const { from, to, keeps } = state;
      this.#words.set([firstRow, numRows, from, to, firstKeep, keeps.length], states / 4 + i * STATE_WORDS);
      for (const { rows, slot } of keeps) this.#words.set([rows, slot], keepsAt / 4 + firstKeep++ * KEEP_WORDS);
      firstRow += numRows;
    }
  }

  #writeRules(newRules: readonly SlotRules[]): void {
    const { vocabSize, rules: rulesAt } = this.#sampler;
    const shape = ruleTableShape(vocabSize);
    for (const { slot, rules } of newRules) {
      this.#words.set(packRules(rules, shape), rulesAt / 4 + slot * shape.words);
    }
  }
}
