import type { Runner, SampledToken, ScheduledSequence, StepResult, TokenLogprob } from "../engine/runner.ts";
import { writeMask } from "../engine/grammar-matcher.ts";
import { maxSamples } from "../engine/scheduler-config.ts";
import type { Sequence } from "../engine/sequence.ts";
import type { ResolvedEngineConfig } from "../protocol/config.ts";

interface FakeRunnerOptions {
  readonly numGpuBlocks: number;
  readonly blockSize: number;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly vocabSize: number;
  readonly speculation: ResolvedEngineConfig["speculation"];
}

/**
 * A runner whose next token is a hash of the whole context, read back through the block table from a paged cache that
 * really is one: a row that was never computed, computed twice over by two owners of a block, or left by an earlier
 * owner gives other tokens. What no scheduler may ask for throws.
 */
export class FakeRunner implements Runner {
  readonly #options: FakeRunnerOptions;
  /** Of each cached position: a hash of its token and position. */
  readonly #cache: Uint32Array;
  /** Who has the slot, how far it has come there, and the last token sampled there. */
  readonly #slots = new Map<number, { sequence: Sequence; numComputed: number; position: number; tokenId: number }>();

  constructor(options: FakeRunnerOptions) {
    this.#options = options;
    this.#cache = new Uint32Array(options.numGpuBlocks * options.blockSize);
  }

  submit(step: readonly ScheduledSequence[]): Promise<StepResult> {
    this.#check(step);
    for (const entry of step) this.#writeRows(entry);
    const tokens = step.flatMap((entry) => [...this.#score(entry), ...(entry.samples ? this.#sample(entry) : [])]);
    return Promise.resolve({ tokens, gpuMs: null });
  }

  #check(step: readonly ScheduledSequence[]): void {
    const { maxNumBatchedTokens, maxNumSeqs } = this.#options;
    const rows = step.reduce((sum, entry) => sum + entry.count, 0);
    assert(step.length > 0, "the step is empty");
    assert(rows <= maxNumBatchedTokens, `${rows} rows are over the budget of ${maxNumBatchedTokens}`);
    const numSamples = step.reduce(
      (sum, { samples, drafts, scored }) => sum + Number(samples) + drafts.length + scored,
      0,
    );
    assert(numSamples <= maxSamples(this.#options), `${numSamples} samples are more than there is room for`);
    const slots = new Set(step.map((entry) => entry.sequence.slot));
    assert(slots.size === step.length, "two entries share a slot");
    this.#checkReads(step);

    for (const { sequence, start, count, samples, drafts, cachedTokens } of step) {
      const slot = slotOf(sequence);
      assert(slot >= 0 && slot < maxNumSeqs, `slot ${slot} is none of ${maxNumSeqs}`);
      assert(count > 0, "an entry has no rows");
      const known = this.#slots.get(slot);
      const expected = known?.sequence === sequence ? known.numComputed : 0;
      assert(start === expected || start === cachedTokens, `rows from ${start} on, but ${expected} are computed`);
      // The plan has counted its own tokens already. A beam's are chosen by its group.
      const numTokens = sequence.numTokens - Number(samples && sequence.group === null);
      assert(start + count <= numTokens, "a row lies beyond the newest token");
      assert(samples === (start + count === numTokens), "samples elsewhere than at the newest token");
      assert(samples || drafts.length === 0, "drafts behind something else than the newest token");
      assert(numTokens <= sequence.maxLength, "a draft lies beyond the longest length");
    }
  }

  /** On the GPU, a row sees the keys of its own sequence's rows in the same step, but not those of others. */
  #checkReads(step: readonly ScheduledSequence[]): void {
    const written = new Set<number>();
    for (const { sequence, start, count } of step) {
      for (let position = start; position < start + count; position++) written.add(this.#address(sequence, position));
    }
    for (const { sequence, start } of step) {
      for (let position = 0; position < start; position++) {
        assert(!written.has(this.#address(sequence, position)), `position ${position} is read and written in one step`);
      }
    }
  }

  #writeRows({ sequence, start, count, drafts }: ScheduledSequence): void {
    const slot = slotOf(sequence);
    const before = this.#slots.get(slot);
    for (let position = start; position < start + count; position++) {
      const sampledHere = before?.sequence === sequence && before.position === position ? before.tokenId : undefined;
      const tokenId = sequence.tokens[position] ?? sampledHere ?? drafts[position - sequence.tokens.length];
      assert(tokenId !== undefined, `there is no token at position ${position}`);
      assert((sampledHere ?? tokenId) === tokenId, `position ${position} has another token than was sampled for it`);
      this.#cache[this.#address(sequence, position)] = mix(tokenId, position);
    }
    const sampled = before?.sequence === sequence ? before : { position: -1, tokenId: -1 };
    this.#slots.set(slot, { ...sampled, sequence, numComputed: start + count });
  }

  /** Of each of the first rows, how likely the token was that follows it. */
  #score({ sequence, start, scored }: ScheduledSequence): SampledToken[] {
    return sequence.tokens.slice(start + 1, start + 1 + scored).map((tokenId, i) => {
      const hash = this.#hash(sequence, start + 1 + i);
      const top = this.#top(sequence.params.promptLogprobs ?? 0, hash);
      return { tokenId, logprob: -hash / 2 ** 32, rank: 1 + (hash % this.#options.vocabSize), top };
    });
  }

  /** One token after the newest, and one after each draft. */
  #sample({ sequence, start, count, drafts }: ScheduledSequence): SampledToken[] {
    const sampled: SampledToken[] = [];
    for (let length = start + count - drafts.length; length <= start + count; length++) {
      const hash = this.#hash(sequence, length);
      sampled.push({
        tokenId: this.#draw(sequence, hash, length),
        logprob: -hash / 2 ** 32,
        top: this.#top(sequence.params.topLogprobs, hash),
      });
    }
    if (sequence.group !== null) return sampled;
    const right = sampled.findIndex(({ tokenId }, i) => tokenId !== drafts[i]);
    const position = start + count - drafts.length + right;
    const slot = slotOf(sequence);
    this.#slots.set(slot, { sequence, numComputed: position, position, tokenId: sampled[right]?.tokenId ?? -1 });
    return sampled;
  }

  /** Tokens and log-probabilities that follow from a hash: of a vocabulary of any size, each token once. */
  #top(wanted: number, hash: number): TokenLogprob[] {
    const { vocabSize } = this.#options;
    const count = Math.min(wanted, vocabSize);
    let logprob = 0;
    return Array.from({ length: count }, (_, n) => {
      logprob -= 0.01 + mix(hash, n) / 2 ** 32;
      return { tokenId: (hash + n) % vocabSize, logprob };
    });
  }

  /** Any token, or any of those that its grammar lets come. */
  #draw({ matcher, params, promptLength }: Sequence, hash: number, length: number): number {
    const { vocabSize } = this.#options;
    if (matcher === null) return hash % vocabSize;
    const mask = new Uint32Array(Math.ceil(vocabSize / 32));
    writeMask(matcher, params, length - promptLength, mask);
    const allowed = Array.from({ length: vocabSize }, (_, id) => id).filter(
      (id) => ((mask[id >>> 5] ?? 0) >>> (id & 31)) & 1,
    );
    assert(allowed.length > 0, "nothing may be drawn");
    return allowed[hash % allowed.length] ?? 0;
  }

  /** Of everything before `length`. */
  #hash(sequence: Sequence, length: number): number {
    const { temperature, seed } = sequence.params;
    let hash = temperature === 0 ? 0 : mix(seed, length - sequence.promptLength);
    for (let position = 0; position < length; position++) {
      hash = mix(hash, this.#cache[this.#address(sequence, position)] ?? 0);
    }
    return hash;
  }

  #address(sequence: Sequence, position: number): number {
    const { blockSize, numGpuBlocks } = this.#options;
    const block = sequence.blockTable[Math.floor(position / blockSize)] ?? -1;
    assert(block >= 0 && block < numGpuBlocks, `position ${position} has no block`);
    return block * blockSize + (position % blockSize);
  }
}

function slotOf(sequence: Sequence): number {
  assert(sequence.slot !== null, `${sequence.requestId} has no slot`);
  return sequence.slot;
}

/** Mixes a number into a 32-bit hash. */
function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ (value >>> 0), 0x9e3779b1) + 0x7f4a7c15;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new Error(`The fake runner was misused: ${message}.`);
}
