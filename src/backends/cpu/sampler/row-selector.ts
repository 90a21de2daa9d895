import { BIN_SHIFT, NUM_BINS } from "../kernels/sampling/filter.ts";
import type { Kernels } from "../kernels/signatures.ts";

/** Memory of a thread's sampler, each as large as a row of logits except the bins. */
export interface SamplerScratch {
  readonly working: number;
  readonly weights: number;
  readonly masses: number;
  readonly ids: number;
  /** 4 NUM_BINS bytes. */
  readonly bins: number;
}

/** Bits of a key below those that the kernel's histogram counts by, and how many bits each further round takes. */
const LOWER_ROUNDS = [
  { shift: 8, bits: 12 },
  { shift: 0, bits: 8 },
] as const;

/** Selects among the values of a row, as wide as a row of logits. */
export class RowSelector {
  readonly #kernels: Kernels;
  readonly #words: Uint32Array;
  readonly #scratch: SamplerScratch;
  readonly #bytes: number;

  /** @param bytes bytes of a row, a multiple of 128 */
  constructor(kernels: Kernels, buffer: ArrayBufferLike, scratch: SamplerScratch, bytes: number) {
    this.#kernels = kernels;
    this.#words = new Uint32Array(buffer);
    this.#scratch = scratch;
    this.#bytes = bytes;
  }

  /**
   * Returns the largest key such that the values with it or a larger one weigh at least `goal` together; each weighs one, or
   * its mass. Returns 0 if all together weigh less.
   * @param masses address, or 0
   */
  keyOf(values: number, masses: number, goal: number): number {
    const { bins, ids } = this.#scratch;
    this.#kernels.histogram(values, masses, this.#bytes, bins);
    const histogram = this.#words.subarray(bins / 4, bins / 4 + NUM_BINS);
    let { bin, missing } = highestBin(histogram, goal);
    if (bin < 0) return 0;
    let prefix = bin;
    const count = this.#kernels.gather(values, this.#bytes, prefix << BIN_SHIFT, ids);
    let tokens = this.#words.subarray(ids / 4, ids / 4 + count);
    const key = (token: number) => keyOfBits(this.#words[values / 4 + token] ?? 0);
    const mass = (token: number) => (masses === 0 ? 1 : (this.#words[masses / 4 + token] ?? 0));
    tokens = tokens.filter((token) => key(token) >>> BIN_SHIFT === prefix);
    for (const { shift, bits } of LOWER_ROUNDS) {
      const counts = new Uint32Array(2 ** bits);
      const part = (token: number) => (key(token) >>> shift) & (2 ** bits - 1);
      for (const token of tokens) counts[part(token)] = (counts[part(token)] ?? 0) + mass(token);
      ({ bin, missing } = highestBin(counts, missing));
      tokens = tokens.filter((token) => part(token) === bin);
      prefix = prefix * 2 ** bits + bin;
    }
    return prefix;
  }

  /** Returns the tokens whose value's key is at least this, ascending. */
  tokensFrom(values: number, key: number): Uint32Array {
    const count = this.#kernels.gather(values, this.#bytes, key, this.#scratch.ids);
    return this.#words.subarray(this.#scratch.ids / 4, this.#scratch.ids / 4 + count);
  }
}

/** Returns the highest bin that weighs `goal` with those above it, and its part of that; -1 if all weigh less. */
function highestBin(bins: Uint32Array, goal: number): { bin: number; missing: number } {
  let missing = goal;
  for (let bin = bins.length - 1; bin >= 0; bin--) {
    const weight = bins[bin] ?? 0;
    if (weight >= missing) return { bin, missing };
    missing -= weight;
  }
  return { bin: -1, missing };
}

/** Returns a float's key: keys are integers that ascend as floats do. */
function keyOfBits(bits: number): number {
  return (bits & 0x80000000 ? ~bits : bits | 0x80000000) >>> 0;
}
