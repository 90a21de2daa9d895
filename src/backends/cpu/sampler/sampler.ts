// Turns a row of logits into a token, its log-probability and the most likely tokens, as shaders/process-logits.wgsl,
// sample.wgsl and top-logprobs.wgsl do. Passes over the vocabulary are kernels; the rest is here.

import { MAX_TOP_CANDIDATES } from "../../../engine/sampling/sampling-params.ts";
import type { LogprobsMode } from "../../../protocol/config.ts";
import { FORBIDDEN } from "../kernels/arithmetic.ts";
import type { Kernels } from "../kernels/signatures.ts";
import { NUM_BINS } from "../kernels/sampling/filter.ts";
import type { MemoryMap } from "../memory-map.ts";
import { strideOf } from "../pack/panel-matrix.ts";
import type { StepMemory } from "../program/step-memory.ts";
import { applyFilters, hasFilters } from "./filters.ts";
import { applyRules } from "./apply-rules.ts";
import { ruleTableShape } from "../../rule-table.ts";
import { readRuleLists } from "./rule-lists.ts";
import { RowSelector, type SamplerScratch } from "./row-selector.ts";
import { SAMPLE_WORDS, SampleFlag, SampleView } from "../../sample-record.ts";
import type { StepLimits } from "../../step-limits.ts";

/** Words of a result: the token (of a scored one its rank), its log-probability, the number of top tokens, then those. */
export const RESULT_WORDS = 3 + 2 * MAX_TOP_CANDIDATES;

/** Addresses; plain data. */
export interface SamplerMemory {
  readonly vocabSize: number;
  readonly logprobsMode: LogprobsMode;
  /** [maxSlots] rule tables */
  readonly rules: number;
  /** [maxSamples, maskWords] */
  readonly masks: number;
  /** [maxSamples] of RESULT_WORDS */
  readonly results: number;
  /** Scratch of the first thread; that of each further one lies `scratchBytes` later. */
  readonly scratch: SamplerScratch & { readonly softmax: number };
  readonly scratchBytes: number;
}

interface SamplerLimits
  extends Pick<StepLimits, "maxSlots" | "maxSamples">, Pick<SamplerMemory, "vocabSize" | "logprobsMode"> {
  readonly maxThreads: number;
}

export function takeSamplerMemory(map: MemoryMap, limits: SamplerLimits): SamplerMemory {
  const { vocabSize, maxSlots, maxSamples, maxThreads, logprobsMode } = limits;
  const rowBytes = 4 * strideOf(vocabSize);
  const binBytes = 4 * NUM_BINS;
  const softmaxBytes = 64;
  const scratchBytes = 4 * rowBytes + binBytes + softmaxBytes;
  const table = ruleTableShape(vocabSize);
  const rules = map.take(4 * maxSlots * table.words);
  const masks = map.take(4 * maxSamples * table.maskWords);
  const results = map.take(4 * maxSamples * RESULT_WORDS);
  const working = map.take(maxThreads * scratchBytes);
  const [weights, masses, ids] = [working + rowBytes, working + 2 * rowBytes, working + 3 * rowBytes];
  const bins = working + 4 * rowBytes;
  const scratch = { working, weights, masses, ids, bins, softmax: bins + binBytes };
  return { vocabSize, logprobsMode, rules, masks, results, scratch, scratchBytes };
}

/** The largest logit of a row, its token, and the sum of exp(logit - peak). */
interface Softmax {
  readonly token: number;
  readonly peak: number;
  readonly total: number;
}

const NO_TOKEN = 0xffffffff;

/** Draws samples on one thread. */
export class Sampler {
  readonly #kernels: Kernels;
  readonly #sample: SampleView;
  readonly #words: Uint32Array;
  readonly #floats: Float32Array;
  readonly #step: StepMemory;
  readonly #memory: SamplerMemory;
  readonly #scratch: SamplerMemory["scratch"];
  readonly #selector: RowSelector;
  /** Bytes of a row of logits with its padding. */
  readonly #rowBytes: number;

  constructor(kernels: Kernels, buffer: ArrayBufferLike, step: StepMemory, memory: SamplerMemory, thread: number) {
    const at = (address: number) => address + thread * memory.scratchBytes;
    const { working, weights, masses, ids, bins, softmax } = memory.scratch;
    this.#kernels = kernels;
    this.#sample = new SampleView(buffer);
    this.#words = new Uint32Array(buffer);
    this.#floats = new Float32Array(buffer);
    this.#step = step;
    this.#memory = memory;
    this.#scratch = {
      working: at(working),
      weights: at(weights),
      masses: at(masses),
      ids: at(ids),
      bins: at(bins),
      softmax: at(softmax),
    };
    this.#rowBytes = 4 * strideOf(memory.vocabSize);
    this.#selector = new RowSelector(kernels, buffer, this.#scratch, this.#rowBytes);
  }

  /** Draws or scores one of the step's samples. @param logits address of its row */
  draw(sample: number, logits: number): void {
    const { vocabSize } = this.#memory;
    const request = this.#requestOf(sample);
    this.#floats.fill(FORBIDDEN, logits / 4 + vocabSize, (logits + this.#rowBytes) / 4);
    const raw = this.#softmaxOf(logits);
    if ((request.flags & SampleFlag.scored) !== 0) this.#score(sample, request, logits, raw);
    else this.#drawToken(sample, request, logits, raw);
  }

  /** Appends the drawn tokens to their slots' histories, after all have been drawn, since rules read the histories. */
  record(numSamples: number): void {
    for (let sample = 0; sample < numSamples; sample++) {
      const request = this.#requestOf(sample);
      if ((request.flags & SampleFlag.scored) !== 0) continue;
      const at = request.slot * this.#step.maxLength + request.promptLength + request.outputIndex;
      this.#words[this.#step.history / 4 + at] = this.#words[this.#resultAt(sample)] ?? 0;
    }
  }

  /** The next call moves it. */
  #requestOf(sample: number): SampleView {
    this.#sample.at = this.#step.samples / 4 + sample * SAMPLE_WORDS;
    return this.#sample;
  }

  #score(sample: number, { scoredToken, numTop }: SampleView, logits: number, raw: Softmax): void {
    const logit = this.#floats[logits / 4 + scoredToken] ?? 0;
    const rank = 1 + this.#kernels.count_above(logits, this.#rowBytes, logit);
    this.#writeResult(sample, rank, this.#logprob(logit, raw));
    this.#writeTop(sample, logits, raw, numTop);
  }

  #drawToken(sample: number, request: SampleView, logits: number, raw: Softmax): void {
    const { vocabSize, logprobsMode } = this.#memory;
    const isProcessed = (request.flags & SampleFlag.processed) !== 0;
    const isNormalised = (request.flags & SampleFlag.normalised) !== 0;
    const isFiltered = request.temperature > 0 && hasFilters(request, vocabSize);
    let source = logits;
    if (isProcessed || isFiltered) {
      source = this.#scratch.working;
      this.#copyRow(logits, raw, isNormalised);
    }
    if (isProcessed) this.#applyRules(request);
    const likeliest = isProcessed ? this.#softmaxOf(source) : raw;
    const row = { logits: source, bytes: this.#rowBytes, highest: likeliest.peak, vocabSize };
    if (isFiltered) applyFilters(this.#kernels, this.#selector, this.#scratch, row, request);
    let token = likeliest.token;
    if (request.temperature > 0) {
      const { temperature, seedLow, seedHigh, outputIndex } = request;
      const drawn = this.#kernels.draw(source, this.#rowBytes, temperature, seedLow, seedHigh, outputIndex) >>> 0;
      if (drawn !== NO_TOKEN) token = drawn;
    }
    // If no token may be drawn, any will do, but its id must be valid.
    if (token === NO_TOKEN) token = 0;

    if (logprobsMode === "raw_logprobs") {
      this.#writeResult(sample, token, this.#logprob(this.#floats[logits / 4 + token] ?? 0, raw));
      if (isNormalised) this.#writeTop(sample, source, null, request.numTop);
      else this.#writeTop(sample, logits, raw, request.numTop);
      return;
    }
    const logprobs = this.#processedLogprobs(source, likeliest.peak, request.temperature);
    this.#writeResult(sample, token, this.#floats[logprobs / 4 + token] ?? 0);
    this.#writeTop(sample, isNormalised ? source : logprobs, null, request.numTop);
  }

  /** Copies the logits, or log-probabilities, so that rules and filters may change them. */
  #copyRow(logits: number, { peak, total }: Softmax, isNormalised: boolean): void {
    const { working } = this.#scratch;
    if (isNormalised) this.#kernels.logprobs_of(logits, working, this.#rowBytes, peak, 1, this.#kernels.log(total));
    else this.#floats.copyWithin(working / 4, logits / 4, (logits + this.#rowBytes) / 4);
  }

  #applyRules(request: SampleView): void {
    const { slot, promptLength, outputIndex, flags, mask } = request;
    const { vocabSize, rules, masks } = this.#memory;
    const { history, maxLength } = this.#step;
    const historyAt = history / 4 + slot * maxLength;
    const table = ruleTableShape(vocabSize);
    const maskAt = masks / 4 + mask * table.maskWords;
    const working = this.#scratch.working / 4;
    applyRules(this.#floats.subarray(working, working + vocabSize), {
      request,
      lists: readRuleLists(
        this.#words.subarray(rules / 4 + slot * table.words, rules / 4 + (slot + 1) * table.words),
        table,
      ),
      history: this.#words.subarray(historyAt, historyAt + promptLength + outputIndex),
      mask: (flags & SampleFlag.masked) === 0 ? null : this.#words.subarray(maskAt, maskAt + table.maskWords),
    });
  }

  /** Returns the address of the log_softmax, at the request's temperature, of the tokens that can be drawn. */
  #processedLogprobs(logits: number, highest: number, temperature: number): number {
    const { weights, masses } = this.#scratch;
    const divisor = temperature === 0 ? 1 : temperature;
    const total = this.#kernels.weigh(logits, weights, this.#rowBytes, highest, divisor);
    this.#kernels.logprobs_of(logits, masses, this.#rowBytes, highest, divisor, this.#kernels.log(total));
    return masses;
  }

  #softmaxOf(logits: number): Softmax {
    const { softmax } = this.#scratch;
    this.#kernels.softmax_of(logits, this.#rowBytes, softmax);
    const at = softmax / 4;
    return { token: this.#words[at] ?? 0, peak: this.#floats[at + 1] ?? 0, total: this.#floats[at + 2] ?? 0 };
  }

  #logprob(logit: number, { peak, total }: Softmax): number {
    return Math.fround(Math.fround(logit - peak) - this.#kernels.log(total));
  }

  #resultAt(sample: number): number {
    return this.#memory.results / 4 + sample * RESULT_WORDS;
  }

  #writeResult(sample: number, token: number, logprob: number): void {
    const at = this.#resultAt(sample);
    this.#words[at] = token;
    this.#floats[at + 1] = logprob;
    this.#words[at + 2] = 0;
  }

  /** Writes the most likely tokens in order, equally likely ones by id. @param softmax null: `values` are log-probabilities */
  #writeTop(sample: number, values: number, softmax: Softmax | null, numTop: number): void {
    const count = Math.min(numTop, MAX_TOP_CANDIDATES);
    if (count === 0) return;
    const value = (token: number) => this.#floats[values / 4 + token] ?? 0;
    const candidates = [...this.#selector.tokensFrom(values, this.#selector.keyOf(values, 0, count))]
      .filter((token) => value(token) > FORBIDDEN)
      .sort((a, b) => value(b) - value(a) || a - b)
      .slice(0, count);
    const at = this.#resultAt(sample);
    this.#words[at + 2] = candidates.length;
    candidates.forEach((token, i) => {
      this.#words[at + 3 + 2 * i] = token;
      this.#floats[at + 4 + 2 * i] = softmax ? this.#logprob(value(token), softmax) : value(token);
    });
  }
}
