// A sample as kernels read it: a token to draw from the logits of a row, or one of the prompt to score under them. Also in
// shaders/lib/step.wgsl; a test checks that both agree.

import type { SampledToken, TokenLogprob } from "../engine/runner.ts";
import { LOWEST_LOGPROB } from "../engine/sampling/sampling-params.ts";
import type { DrawnToken, DrawParams, Sample } from "../engine/step-plan.ts";
import { recordViews } from "./record.ts";

export const SAMPLE_FIELDS = [
  ["row", "u32"],
  ["slot", "u32"],
  ["outputIndex", "u32"],
  ["temperature", "f32"],
  ["topK", "u32"],
  ["topP", "f32"],
  ["seedLow", "u32"],
  ["seedHigh", "u32"],
  ["minP", "f32"],
  ["typicalP", "f32"],
  ["repetitionPenalty", "f32"],
  ["frequencyPenalty", "f32"],
  ["presencePenalty", "f32"],
  ["noRepeatNgramSize", "u32"],
  ["promptLength", "u32"],
  ["numTop", "u32"],
  ["flags", "u32"],
  ["mask", "u32"],
  ["scoredToken", "u32"],
] as const;

/** Words of a sample. The first is its row. */
export const SAMPLE_WORDS = SAMPLE_FIELDS.length;

export const SampleView = recordViews(SAMPLE_FIELDS);
export type SampleView = InstanceType<typeof SampleView>;

/** Bits of `flags`: shaders/lib/step.wgsl says what they mean. */
export const SampleFlag = { processed: 1, tooEarly: 2, normalised: 4, masked: 8, scored: 16, plain: 32 } as const;

/** A scored token's parameters: those of a greedy draw without filters. */
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

/** @param flags besides those that follow from the sample */
export function writeSample(view: SampleView, sample: Sample, flags = 0): void {
  const isDrawn = sample.kind === "draw";
  const params = isDrawn ? sample.params : NO_DRAW;
  // Every sample of every step comes here, and a loop over names would take many times as long.
  view.row = sample.row;
  view.slot = sample.slot;
  view.outputIndex = isDrawn ? sample.outputIndex : 0;
  view.temperature = params.temperature;
  view.topK = Math.min(params.topK, 0xffffffff);
  view.topP = params.topP;
  view.seedLow = params.seed % 2 ** 32;
  view.seedHigh = Math.floor(params.seed / 2 ** 32);
  view.minP = params.minP;
  view.typicalP = params.typicalP;
  view.repetitionPenalty = params.repetitionPenalty;
  view.frequencyPenalty = params.frequencyPenalty;
  view.presencePenalty = params.presencePenalty;
  view.noRepeatNgramSize = params.noRepeatNgramSize;
  view.promptLength = isDrawn ? sample.promptLength : 0;
  view.numTop = sample.numTop;
  view.flags = flags | (isDrawn ? flagsOf(sample) : SampleFlag.scored);
  view.mask = isDrawn ? (sample.mask ?? 0) : 0;
  view.scoredToken = isDrawn ? 0 : sample.tokenId;
}

function flagsOf({ isProcessed, isTooEarly, isNormalised, mask }: DrawnToken): number {
  return (
    (isProcessed ? SampleFlag.processed : 0) |
    (isTooEarly ? SampleFlag.tooEarly : 0) |
    (isNormalised ? SampleFlag.normalised : 0) |
    (mask === null ? 0 : SampleFlag.masked)
  );
}

const NO_TOP: readonly TokenLogprob[] = [];

/** Reads what kernels have written of a sample: words of an id and of a log-probability, and as many for each likely token. */
export function readSample(
  words: Uint32Array,
  sample: Sample,
  { at, topAt, numTop }: Readonly<Record<"at" | "topAt" | "numTop", number>>,
): SampledToken {
  const floats = new Float32Array(words.buffer, words.byteOffset, words.length);
  const tokenAt = (word: number): TokenLogprob => ({ tokenId: words[word] ?? 0, logprob: floats[word + 1] ?? 0 });
  const { tokenId, logprob } = tokenAt(at);
  const likely = Array.from({ length: numTop }, (_, i) => tokenAt(topAt + 2 * i));
  const top = numTop === 0 ? NO_TOP : likely.filter((one) => one.logprob > LOWEST_LOGPROB);
  // Of a scored token there is the rank where a drawn one has its id.
  return sample.kind === "draw" ? { tokenId, logprob, top } : { tokenId: sample.tokenId, logprob, top, rank: tokenId };
}
