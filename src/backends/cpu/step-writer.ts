import type { SampledToken } from "../../engine/runner.ts";
import { LOWEST_LOGPROB } from "../../engine/sampling/sampling-params.ts";
import type { DrawnToken, Sample, SlotRules, SlotUpdate, StepPlan } from "../../engine/step-plan.ts";
import { ROW_WORDS, type StepMemory } from "./program/step-memory.ts";
import { packRules, ruleTableShape } from "../rule-table.ts";
import { SAMPLE_FLAG, SAMPLE_WORDS, writeSample, type SampleRequest } from "./sampler/sample-layout.ts";
import { RESULT_WORDS, type SamplerMemory } from "./sampler/sampler.ts";

/** Brings plans into the memory that threads read, and the tokens that they draw out of it. */
export class StepWriter {
  readonly #buffer: ArrayBufferLike;
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  readonly #step: StepMemory;
  readonly #sampler: SamplerMemory;

  constructor(buffer: ArrayBufferLike, step: StepMemory, sampler: SamplerMemory) {
    this.#buffer = buffer;
    this.#words = new Uint32Array(buffer);
    this.#floats = new Float32Array(buffer);
    this.#step = step;
    this.#sampler = sampler;
  }

  /** FEEDBACK is the same number as UNKNOWN: such a row's token is what the slot's history has at its position. */
  write({ rows, samples, blockTables, histories, rules, masks }: StepPlan): void {
    const { head, rows: rowsAt, samples: samplesAt, tables, maxBlocks, history, maxLength } = this.#step;
    this.#words.set([rows.length / ROW_WORDS, samples.length], head / 4);
    this.#words.set(rows, rowsAt / 4);
    samples.forEach((sample, i) => writeSample(this.#buffer, samplesAt + 4 * i * SAMPLE_WORDS, requestOf(sample)));
    this.#update(tables, maxBlocks, blockTables);
    this.#update(history, maxLength, histories);
    this.#writeRules(rules);
    const { vocabSize, masks: masksAt } = this.#sampler;
    const { maskWords } = ruleTableShape(vocabSize);
    masks.forEach((mask, i) => this.#words.set(mask, masksAt / 4 + i * maskWords));
  }

  /** What the samples of the plan that was computed last have brought. */
  results(samples: readonly Sample[]): SampledToken[] {
    return samples.map((sample, i) => {
      const at = this.#sampler.results / 4 + i * RESULT_WORDS;
      const tokenAt = (word: number) => ({ tokenId: this.#word(word), logprob: this.#floats[word + 1] ?? 0 });
      const { tokenId, logprob } = tokenAt(at);
      const candidates = Array.from({ length: this.#word(at + 2) }, (_, n) => tokenAt(at + 3 + 2 * n));
      const top = candidates.filter((one) => one.logprob > LOWEST_LOGPROB);
      // The sampler puts the rank where a drawn token has its id.
      return sample.kind === "draw"
        ? { tokenId, logprob, top }
        : { tokenId: sample.tokenId, logprob, top, rank: tokenId };
    });
  }

  #update(table: number, width: number, updates: readonly SlotUpdate[]): void {
    for (const { slot, start, values } of updates) this.#words.set(values, table / 4 + slot * width + start);
  }

  #writeRules(newRules: readonly SlotRules[]): void {
    const { vocabSize, rules: rulesAt } = this.#sampler;
    const shape = ruleTableShape(vocabSize);
    for (const { slot, rules } of newRules) {
      this.#words.set(packRules(rules, shape), rulesAt / 4 + slot * shape.words);
    }
  }

  #word(at: number): number {
    return this.#words[at] ?? 0;
  }
}

const NOTHING_DRAWN = {
  outputIndex: 0,
  promptLength: 0,
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  typicalP: 1,
  seedLow: 0,
  seedHigh: 0,
  repetitionPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  noRepeatNgramSize: 0,
  mask: 0,
} as const;

function requestOf(sample: Sample): SampleRequest {
  const { row, slot, numTop } = sample;
  if (sample.kind === "score") {
    return { ...NOTHING_DRAWN, row, slot, numTop, flags: SAMPLE_FLAG.scored, scoredToken: sample.tokenId };
  }
  const { outputIndex, promptLength, params, mask } = sample;
  const { seed, topK, ...numbers } = params;
  return {
    ...numbers,
    row,
    slot,
    numTop,
    flags: flagsOf(sample),
    outputIndex,
    promptLength,
    topK: Math.min(topK, 0xffffffff),
    seedLow: seed % 2 ** 32,
    seedHigh: Math.floor(seed / 2 ** 32),
    mask: mask ?? 0,
    scoredToken: 0,
  };
}

function flagsOf({ isProcessed, isTooEarly, isNormalised, mask }: DrawnToken): number {
  return (
    (isProcessed ? SAMPLE_FLAG.processed : 0) |
    (isTooEarly ? SAMPLE_FLAG.tooEarly : 0) |
    (isNormalised ? SAMPLE_FLAG.normalised : 0) |
    (mask === null ? 0 : SAMPLE_FLAG.masked)
  );
}
