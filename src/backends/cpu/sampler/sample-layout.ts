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

const INTEGERS = [
  "row",
  "slot",
  "numTop",
  "flags",
  "outputIndex",
  "promptLength",
  "topK",
  "seedLow",
  "seedHigh",
  "noRepeatNgramSize",
  "mask",
  "scoredToken",
] as const satisfies readonly (keyof SampleRequest)[];
const FLOATS = [
  "temperature",
  "topP",
  "minP",
  "typicalP",
  "repetitionPenalty",
  "frequencyPenalty",
  "presencePenalty",
] as const satisfies readonly (keyof SampleRequest)[];

/** Words of a sample. The first is its row. */
export const SAMPLE_WORDS = INTEGERS.length + FLOATS.length;

export function writeSample(buffer: ArrayBufferLike, address: number, request: SampleRequest): void {
  const words = new Uint32Array(buffer, address, SAMPLE_WORDS);
  INTEGERS.forEach((field, i) => (words[i] = request[field]));
  const floats = new Float32Array(buffer, address + 4 * INTEGERS.length, FLOATS.length);
  FLOATS.forEach((field, i) => (floats[i] = request[field]));
}

export function readSample(buffer: ArrayBufferLike, address: number): SampleRequest {
  const words = new Uint32Array(buffer, address, SAMPLE_WORDS);
  const floats = new Float32Array(buffer, address + 4 * INTEGERS.length, FLOATS.length);
  const fields = [
    ...INTEGERS.map((field, i) => [field, words[i] ?? 0] as const),
    ...FLOATS.map((field, i) => [field, floats[i] ?? 0] as const),
  ];
  return Object.fromEntries(fields) as unknown as SampleRequest;
}
