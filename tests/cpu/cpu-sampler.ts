// Drawing tokens with the CPU backend's sampler, for its tests.

import { NO_RULES, type LogitRules } from "../../src/engine/sampling/logit-rules.ts";
import type { LogprobsMode } from "../../src/protocol/config.ts";
import { assembleKernels, instantiateKernels } from "../../src/backends/cpu/kernels/kernels.ts";
import { MemoryMap } from "../../src/backends/cpu/memory-map.ts";
import { strideOf } from "../../src/backends/cpu/pack/panel-matrix.ts";
import { takeStepMemory } from "../../src/backends/cpu/program/step-memory.ts";
import { packRules, ruleTableShape } from "../../src/backends/rule-table.ts";
import { SAMPLE_WORDS, SampleFlag, SampleView } from "../../src/backends/sample-record.ts";
import { RESULT_WORDS, Sampler, takeSamplerMemory } from "../../src/backends/cpu/sampler/sampler.ts";

export interface DrawRequest extends Partial<Omit<SampleView, "at" | "flags" | "seedLow" | "seedHigh">> {
  readonly seed?: number;
  readonly rules?: Partial<LogitRules>;
  readonly prompt?: readonly number[];
  readonly output?: readonly number[];
  readonly grammar?: readonly number[];
  readonly isBeam?: boolean;
  readonly isScored?: boolean;
}

export interface Drawn {
  /** Or its rank, where it was scored. */
  readonly token: number;
  readonly logprob: number;
  readonly top: readonly { readonly token: number; readonly logprob: number }[];
  /** The slot's history afterwards. */
  readonly history: readonly number[];
}

const MAX_LENGTH = 256;

/** Draws a token for each request, all from the same logits. */
export async function drawOnCpu(
  logits: Float32Array,
  requests: readonly DrawRequest[],
  logprobsMode: LogprobsMode = "raw_logprobs",
): Promise<Drawn[]> {
  const vocabSize = logits.length;
  const map = new MemoryMap();
  const count = requests.length;
  const limits = { maxRows: 1, maxSamples: count, maxSlots: count, maxBlocks: 1, maxLength: MAX_LENGTH };
  const step = takeStepMemory(map, { ...limits, numStates: 0 });
  const sampling = takeSamplerMemory(map, { ...limits, vocabSize, maxThreads: 1, logprobsMode });
  const rows = map.take(4 * strideOf(vocabSize) * count);
  const limitsOfMemory = { isShared: false, pages: map.pages };
  const memory = new WebAssembly.Memory({ initial: map.pages, maximum: map.pages });
  const bytes = assembleKernels({
    math: "portable",
    layouts: [],
    cache: { dtype: "f32", headSize: 8, blockSize: 16 },
    queriesPerKey: 1,
    memory: limitsOfMemory,
  });
  const kernels = await instantiateKernels(await WebAssembly.compile(bytes), memory);
  const { buffer } = memory;
  requests.forEach((request, slot) => {
    const { rules: some, prompt = [], output = [], grammar, isBeam, isScored, seed = 0, ...fields } = request;
    const rules = { ...NO_RULES, ...some };
    const isProcessed = some !== undefined || grammar !== undefined || isBeam === true;
    const flags =
      (isProcessed ? SampleFlag.processed : 0) |
      (output.length < rules.minTokens ? SampleFlag.tooEarly : 0) |
      (isBeam ? SampleFlag.normalised : 0) |
      (grammar ? SampleFlag.masked : 0) |
      (isScored ? SampleFlag.scored : 0);
    Object.assign(new SampleView(buffer), {
      at: step.samples / 4 + slot * SAMPLE_WORDS,
      row: 0,
      slot,
      numTop: 0,
      outputIndex: output.length,
      promptLength: prompt.length,
      temperature: 0,
      topK: 0,
      topP: 1,
      minP: 0,
      typicalP: 1,
      repetitionPenalty: rules.repetitionPenalty,
      frequencyPenalty: rules.frequencyPenalty,
      presencePenalty: rules.presencePenalty,
      noRepeatNgramSize: rules.noRepeatNgramSize,
      mask: slot,
      scoredToken: 0,
      ...fields,
      flags,
      seedLow: seed % 2 ** 32,
      seedHigh: Math.floor(seed / 2 ** 32),
    });
    new Uint32Array(buffer, step.history + 4 * slot * MAX_LENGTH).set([...prompt, ...output]);
    const table = ruleTableShape(vocabSize);
    new Uint32Array(buffer, sampling.rules).set(packRules(rules, table), slot * table.words);
    const mask = new Uint32Array(buffer, sampling.masks + 4 * slot * table.maskWords, table.maskWords);
    for (const id of grammar ?? []) mask[id >>> 5]! |= 1 << (id & 31);
  });
  const sampler = new Sampler(kernels, buffer, step, sampling, 0);
  requests.forEach((_, i) => {
    const row = rows + i * 4 * strideOf(vocabSize);
    new Float32Array(buffer, row).set(logits);
    sampler.draw(i, row);
  });
  sampler.record(count);
  return requests.map(({ prompt = [], output = [] }, i) => {
    const at = sampling.results + 4 * i * RESULT_WORDS;
    const words = new Uint32Array(buffer, at, RESULT_WORDS);
    const floats = new Float32Array(buffer, at, RESULT_WORDS);
    const top = Array.from({ length: words[2]! }, (__, n) => ({
      token: words[3 + 2 * n]!,
      logprob: floats[4 + 2 * n]!,
    }));
    const length = prompt.length + output.length + 1;
    const history = [...new Uint32Array(buffer, step.history + 4 * i * MAX_LENGTH, length)];
    return { token: words[0]!, logprob: floats[1]!, top, history };
  });
}
