// A sample in memory: a token to draw from the logits of a row, or one of the prompt to score under them. One word a field,
// floats as their bits.

/** What a sample asks for. `row` is one of the step; `outputIndex` and the seed key its random numbers. */
export interface SampleRequest {
  readonly row: number;
  readonly slot: number;
  /** Most likely tokens to tell. */
  readonly numTop: number;
  readonly flags: number;
  readonly outputIndex: number;
  readonly promptLength: number;
  /** 0: greedy. */
  readonly temperature: number;
  readonly topK: number;
  readonly topP: number;
  readonly minP: number;
  readonly typicalP: number;
  readonly seedLow: number;
  readonly seedHigh: number;
  readonly repetitionPenalty: number;
  readonly frequencyPenalty: number;
  readonly presencePenalty: number;
  readonly noRepeatNgramSize: number;
  /** Which of the step's masks, where MASKED. */
  readonly mask: number;
  /** Where SCORED. */
  readonly scoredToken: number;
}

/** Bits of `flags`. */
export const SAMPLE_FLAG = {
  /** Rules, a mask or a beam search change the logits. */
  processed: 1,
  /** The rules' end tokens are forbidden. */
  tooEarly: 2,
  /** Rules change log-probabilities, as beam search has it. */
  normalised: 4,
  /** Only what the mask has may be drawn. */
  masked: 8,
  /** A token of the prompt is scored; nothing is drawn. */
  scored: 16,
} as const;

/** Words of a sample. The first is its row. */
export const SAMPLE_WORDS = 19;

/** A memory's words, and the same as floats. */
export interface SampleMemory {
  readonly words: Uint32Array;
  readonly floats: Float32Array;
}

export function sampleMemory(buffer: ArrayBufferLike): SampleMemory {
  return { words: new Uint32Array(buffer), floats: new Float32Array(buffer) };
}

// Each field by its own line: loops over names take a hundred times as long, and every sample of every step comes here.

export function writeSample({ words, floats }: SampleMemory, address: number, request: SampleRequest): void {
  const at = address / 4;
  words[at] = request.row;
  words[at + 1] = request.slot;
  words[at + 2] = request.numTop;
  words[at + 3] = request.flags;
  words[at + 4] = request.outputIndex;
  words[at + 5] = request.promptLength;
  words[at + 6] = request.topK;
  words[at + 7] = request.seedLow;
  words[at + 8] = request.seedHigh;
  words[at + 9] = request.noRepeatNgramSize;
  words[at + 10] = request.mask;
  words[at + 11] = request.scoredToken;
  floats[at + 12] = request.temperature;
  floats[at + 13] = request.topP;
  floats[at + 14] = request.minP;
  floats[at + 15] = request.typicalP;
  floats[at + 16] = request.repetitionPenalty;
  floats[at + 17] = request.frequencyPenalty;
  floats[at + 18] = request.presencePenalty;
}

export function readSample({ words, floats }: SampleMemory, address: number): SampleRequest {
  const at = address / 4;
  return {
    row: words[at] ?? 0,
    slot: words[at + 1] ?? 0,
    numTop: words[at + 2] ?? 0,
    flags: words[at + 3] ?? 0,
    outputIndex: words[at + 4] ?? 0,
    promptLength: words[at + 5] ?? 0,
    topK: words[at + 6] ?? 0,
    seedLow: words[at + 7] ?? 0,
    seedHigh: words[at + 8] ?? 0,
    noRepeatNgramSize: words[at + 9] ?? 0,
    mask: words[at + 10] ?? 0,
    scoredToken: words[at + 11] ?? 0,
    temperature: floats[at + 12] ?? 0,
    topP: floats[at + 13] ?? 0,
    minP: floats[at + 14] ?? 0,
    typicalP: floats[at + 15] ?? 0,
    repetitionPenalty: floats[at + 16] ?? 0,
    frequencyPenalty: floats[at + 17] ?? 0,
    presencePenalty: floats[at + 18] ?? 0,
  };
}
