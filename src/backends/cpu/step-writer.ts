import type { SampledToken, TokenLogprob } from "../../engine/runner.ts";
import { LOWEST_LOGPROB } from "../../engine/sampling/sampling-params.ts";
import type { DrawnToken, DrawParams, Sample, SlotRules, SlotUpdate, StepPlan } from "../../engine/step-plan.ts";
import { ROW_WORDS, type StepMemory } from "./program/step-memory.ts";
import { packRules, ruleTableShape } from "../rule-table.ts";
import {
  SAMPLE_FLAG,
  SAMPLE_WORDS,
  sampleMemory,
  writeSample,
  type SampleMemory,
  type SampleRequest,
} from "./sampler/sample-layout.ts";
import { RESULT_WORDS, type SamplerMemory } from "./sampler/sampler.ts";

/** Brings plans into the memory that threads read, and the tokens that they draw out of it. */
export class StepWriter {
  readonly #memory: SampleMemory;
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  readonly #step: StepMemory;
  readonly #sampler: SamplerMemory;

  constructor(buffer: ArrayBufferLike, step: StepMemory, sampler: SamplerMemory) {
    this.#memory = sampleMemory(buffer);
    this.#words = this.#memory.words;
    this.#floats = this.#memory.floats;
    this.#step = step;
    this.#sampler = sampler;
  }

  /** FEEDBACK is the same number as UNKNOWN: such a row's token is what the slot's history has at its position. */
  write({ rows, samples, blockTables, histories, rules, masks }: StepPlan): void {
    const { head, rows: rowsAt, samples: samplesAt, tables, maxBlocks, history, maxLength } = this.#step;
    this.#words[head / 4] = rows.length / ROW_WORDS;
    this.#words[head / 4 + 1] = samples.length;
    this.#words.set(rows, rowsAt / 4);
    samples.forEach((sample, i) => writeSample(this.#memory, samplesAt + 4 * i * SAMPLE_WORDS, requestOf(sample)));
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
      const { tokenId, logprob } = this.#tokenAt(at);
      const top = this.#topAt(at + 3, this.#word(at + 2));
      // The sampler puts the rank where a drawn token has its id.
      return sample.kind === "draw"
        ? { tokenId, logprob, top }
        : { tokenId: sample.tokenId, logprob, top, rank: tokenId };
    });
  }

  #tokenAt(at: number): TokenLogprob {
    return { tokenId: this.#word(at), logprob: this.#floats[at + 1] ?? 0 };
  }

  #topAt(at: number, count: number): TokenLogprob[] {
    const top: TokenLogprob[] = [];
    for (let i = 0; i < count; i++) {
      const candidate = this.#tokenAt(at + 2 * i);
      if (candidate.logprob > LOWEST_LOGPROB) top.push(candidate);
    }
    return top;
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

/** What a scored token has in place of a draw's parameters. */
const NO_DRAW: DrawParams = {
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  typicalP: 1,
  seed: 0,
  repetitionPenalty: 1,
  frequencyPenalty: 0,
  presencePenalty: 0,
  noRepeatNgramSize: 0,
};

function requestOf(sample: Sample): SampleRequest {
  const isDrawn = sample.kind === "draw";
  const params = isDrawn ? sample.params : NO_DRAW;
  // Spreading `params` would take most of the time that a step's JavaScript takes.
  return {
    row: sample.row,
    slot: sample.slot,
    numTop: sample.numTop,
    flags: isDrawn ? flagsOf(sample) : SAMPLE_FLAG.scored,
    outputIndex: isDrawn ? sample.outputIndex : 0,
    promptLength: isDrawn ? sample.promptLength : 0,
    temperature: params.temperature,
    topK: Math.min(params.topK, 0xffffffff),
    topP: params.topP,
    minP: params.minP,
    typicalP: params.typicalP,
    seedLow: params.seed % 2 ** 32,
    seedHigh: Math.floor(params.seed / 2 ** 32),
    repetitionPenalty: params.repetitionPenalty,
    frequencyPenalty: params.frequencyPenalty,
    presencePenalty: params.presencePenalty,
    noRepeatNgramSize: params.noRepeatNgramSize,
    mask: isDrawn ? (sample.mask ?? 0) : 0,
    scoredToken: isDrawn ? 0 : sample.tokenId,
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
