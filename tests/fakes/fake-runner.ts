import {
  resultsBySequence,
  type Runner,
  type SampledToken,
  type StepResult,
  type TokenLogprob,
} from "../../src/engine/runner.ts";
import { maxSamples } from "../../src/engine/scheduling/scheduler-config.ts";
import {
  FEEDBACK,
  NO_STATE,
  ROW_WORDS,
  type DrawnToken,
  type ScoredToken,
  type StepPlan,
} from "../../src/engine/step-plan.ts";
import type { ResolvedEngineConfig } from "../../src/protocol/config.ts";
import { allowedIds } from "../requests/grammars.ts";

interface FakeRunnerOptions {
  readonly numGpuBlocks: number;
  readonly blockSize: number;
  readonly maxNumSeqs: number;
  readonly maxNumBatchedTokens: number;
  readonly vocabSize: number;
  readonly speculation: ResolvedEngineConfig["speculation"];
  /** Number of tokens, of ten, that another model would draw. [0] */
  readonly mistakes?: number;
  /** Positions that a row sees; null for all. [null] */
  readonly slidingWindow?: number | null;
  /** Slots for states of sequences. [0: it keeps none] */
  readonly numStateSlots?: number;
  /** Returns the tokens that answers consist of, where they may. [none: a hash decides] */
  readonly script?: () => readonly number[];
}

interface State {
  readonly length: number;
  readonly hash: number;
}

interface Slot {
  readonly blockTable: number[];
  /** Rows that have been computed; null as long as the sequence in the slot has none. */
  numComputed: number | null;
  /** The token that was drawn last, for which position. */
  feedback: { readonly position: number; readonly tokenId: number } | null;
}

/**
 * A runner whose next token is a hash of the whole context, read back through the block table from a paged cache that
 * really is one: a row that was never computed, computed twice over by two owners of a block, or left by an earlier
 * owner gives other tokens. What no plan may ask for throws, a state too that is not that of all tokens before.
 */
export class FakeRunner implements Runner {
  readonly #options: FakeRunnerOptions;
  /** For each cached position a hash of its token and position. */
  readonly #cache: Uint32Array;
  readonly #slots = new Map<number, Slot>();
  /** Hashes of all tokens up to a position. */
  readonly #states = new Map<number, State>();
  /** The state after each row of the step. */
  #rowStates: readonly number[] = [];

  constructor(options: FakeRunnerOptions) {
    this.#options = options;
    this.#cache = new Uint32Array(options.numGpuBlocks * options.blockSize);
  }

  submit(live: StepPlan): Promise<StepResult> {
    // Plain data, which may come from another thread.
    const plan = structuredClone(live);
    this.#updateTables(plan);
    this.#check(plan);
    const tokens = this.#writeRows(plan);
    this.#rowStates = this.#writeStates(plan, tokens);
    const results = plan.samples.map((sample) =>
      sample.kind === "score" ? this.#score(sample, plan) : this.#draw(sample, plan),
    );
    this.#feedBack(plan, results, tokens);
    return Promise.resolve({ sequences: resultsBySequence(plan, results), gpuMs: null });
  }

  #updateTables({ blockTables }: StepPlan): void {
    for (const { slot, start, values } of blockTables) {
      // A whole table is that of another sequence, or of one that starts over.
      if (start === 0) this.#slots.set(slot, { blockTable: [], numComputed: null, feedback: null });
      const { blockTable } = this.#slot(slot);
      assert(start === blockTable.length, () => `a block table of ${blockTable.length} goes on at ${start}`);
      blockTable.push(...values);
    }
  }

  #check(plan: StepPlan): void {
    const { maxNumBatchedTokens, maxNumSeqs } = this.#options;
    const { sequences, rows, samples } = plan;
    const numRows = rows.length / ROW_WORDS;
    assert(sequences.length > 0, "the step is empty");
    assert(numRows <= maxNumBatchedTokens, () => `${numRows} rows are over the budget of ${maxNumBatchedTokens}`);
    const room = maxSamples(this.#options);
    assert(samples.length <= room, () => `${samples.length} samples are more than there is room for`);
    assert(new Set(sequences.map(({ slot }) => slot)).size === sequences.length, "two sequences share a slot");
    this.#checkReads(plan);

    let row = 0;
    let sample = 0;
    for (const { slot, start, numRows: count, numScored, numDrawn } of sequences) {
      assert(slot >= 0 && slot < maxNumSeqs, () => `slot ${slot} is none of ${maxNumSeqs}`);
      assert(count > 0, "a sequence has no rows");
      const { numComputed } = this.#slot(slot);
      assert((numComputed ?? start) === start, () => `rows from ${start} on, but ${numComputed} are computed`);
      for (let i = 0; i < count; i++) {
        const [, position, rowSlot, rowStart] = rowAt(plan, row + i);
        const isItsOwn = position === start + i && rowSlot === slot && rowStart === start;
        assert(isItsOwn, () => `row ${row + i} is not its sequence's`);
      }
      for (let i = 0; i < numScored; i++) {
        const { kind, row: scoredRow } = samples[sample + i]!;
        assert(kind === "score" && scoredRow === row + i, "a score is not of one of the first rows");
      }
      for (let i = 0; i < numDrawn; i++) {
        const one = samples[sample + numScored + i]!;
        const drawnRow = row + count - numDrawn + i;
        assert(
          one.kind === "draw" && one.row === drawnRow && one.slot === slot,
          "a draw is not of one of the last rows",
        );
        const position = one.promptLength + one.outputIndex;
        assert(position === rowAt(plan, drawnRow)[1] + 1, "a draw is for another position than the one after its row");
      }
      row += count;
      sample += numScored + numDrawn;
    }
    assert(row === numRows && sample === samples.length, "rows or samples belong to no sequence");
  }

  /** On the GPU, a row sees the keys of its own sequence's rows in the same step, but not those of others. */
  #checkReads({ sequences }: StepPlan): void {
    const { slidingWindow } = this.#options;
    const written = new Set<number>();
    for (const { slot, start, numRows } of sequences) {
      for (let position = start; position < start + numRows; position++) written.add(this.#address(slot, position));
    }
    for (const { slot, start } of sequences) {
      const firstSeen = Math.max(0, start + 1 - (slidingWindow ?? start + 1));
      for (let position = firstSeen; position < start; position++) {
        assert(
          !written.has(this.#address(slot, position)),
          () => `position ${position} is read and written in one step`,
        );
      }
    }
  }

  /** Returns the token of each row. */
  #writeRows(plan: StepPlan): number[] {
    const tokens = Array.from({ length: plan.rows.length / ROW_WORDS }, (_, row) => {
      const [token, position, slot] = rowAt(plan, row);
      const { feedback } = this.#slot(slot);
      const tokenId = token === FEEDBACK ? feedback?.tokenId : token;
      assert(tokenId !== undefined, () => `row ${row} waits for a token that nobody drew`);
      if (feedback?.position === position) {
        assert(tokenId === feedback.tokenId, () => `position ${position} has another token than was drawn for it`);
      } else assert(token !== FEEDBACK, () => `position ${position} is not the one that was drawn last`);
      this.#cache[this.#address(slot, position)] = mix(tokenId, position);
      return tokenId;
    });
    for (const { slot, start, numRows } of plan.sequences) this.#slot(slot).numComputed = start + numRows;
    return tokens;
  }

  /** Returns the state after each row. */
  #writeStates({ sequences }: StepPlan, tokens: readonly number[]): readonly number[] {
    const { numStateSlots = 0 } = this.#options;
    if (numStateSlots === 0) return tokens.map(() => 0);
    const after: number[] = [];
    const written = new Map<number, State>();
    const read = new Set<number>();
    for (const { start, numRows, state } of sequences) {
      assert(state !== undefined, "a sequence has no state");
      const { from, to, keeps } = state;
      let { length, hash } = from === NO_STATE ? { length: 0, hash: 0 } : (this.#states.get(from) ?? NOTHING);
      assert(length === start, () => `rows from ${start} on begin with the state after ${length}`);
      if (from !== to) read.add(from);
      const places = [...keeps, { rows: numRows, slot: to }];
      for (const { slot } of places) {
        assert(
          slot >= 0 && slot < numStateSlots && !written.has(slot),
          () => `state ${slot} is written twice, or is none`,
        );
        written.set(slot, NOTHING);
      }
      assert(new Set(keeps.map(({ rows }) => rows)).size === keeps.length, "a row's state is kept twice");
      for (let row = 1; row <= numRows; row++) {
        hash = mix(hash, mix(tokens[after.length] ?? -1, length++));
        after.push(hash);
        for (const { rows, slot } of places) if (rows === row) written.set(slot, { length, hash });
      }
    }
    for (const [slot, state] of written) {
      assert(!read.has(slot), () => `state ${slot} is read and written in one step`);
      this.#states.set(slot, state);
    }
    return after;
  }

  #score({ slot, row, tokenId, numTop }: ScoredToken, plan: StepPlan): SampledToken {
    const hash = this.#hash(slot, rowAt(plan, row)[1] + 1, row, 0);
    const rank = 1 + (hash % this.#options.vocabSize);
    return { tokenId, logprob: -hash / 2 ** 32, rank, top: this.#top(numTop, hash) };
  }

  #draw(sample: DrawnToken, plan: StepPlan): SampledToken {
    const { slot, row, params, outputIndex, promptLength, numTop } = sample;
    const first = params.temperature === 0 ? 0 : mix(params.seed, outputIndex);
    const hash = this.#hash(slot, promptLength + outputIndex, row, first);
    const isMistaken = mix(hash, 1) % 10 < (this.#options.mistakes ?? 0);
    const tokenId = this.#allowedToken(sample, plan, hash + (isMistaken ? 1 : 0));
    return { tokenId, logprob: -hash / 2 ** 32, top: this.#top(numTop, hash) };
  }

  /** Keeps the last token of each sequence, and forgets the rows of drafts that were wrong. */
  #feedBack({ sequences, samples }: StepPlan, results: readonly SampledToken[], tokens: readonly number[]): void {
    let row = 0;
    let sample = 0;
    for (const { slot, start, numRows, numScored, numDrawn } of sequences) {
      row += numRows;
      sample += numScored + numDrawn;
      const first = samples[sample - numDrawn];
      if (numDrawn === 0 || first?.kind !== "draw" || first.isNormalised) continue;
      const drafts = tokens.slice(row - numDrawn + 1, row);
      const drawn = results.slice(sample - numDrawn, sample);
      const right = drawn.findIndex(({ tokenId }, i) => tokenId !== drafts[i]);
      const position = start + numRows - drafts.length + right;
      const state = this.#slot(slot);
      const isWrong = right < drafts.length;
      state.numComputed = isWrong && this.#options.numStateSlots ? position - right : position;
      state.feedback = { position, tokenId: drawn[right]?.tokenId ?? -1 };
    }
  }

  /** Tokens and log-probabilities that follow from a hash: of a vocabulary of any size, each token once. */
  #top(requested: number, hash: number): TokenLogprob[] {
    const { vocabSize } = this.#options;
    const count = Math.min(requested, vocabSize);
    let logprob = 0;
    return Array.from({ length: count }, (_, n) => {
      logprob -= 0.01 + mix(hash, n) / 2 ** 32;
      return { tokenId: (hash + n) % vocabSize, logprob };
    });
  }

  /** Any token, or any of those that its grammar lets come. */
  #allowedToken({ mask: index, outputIndex }: DrawnToken, { masks }: StepPlan, hash: number): number {
    const { vocabSize, script } = this.#options;
    const scripted = script?.()[outputIndex];
    if (index === null) return scripted ?? hash % vocabSize;
    const mask = masks[index];
    const allowed = mask ? allowedIds(mask).filter((id) => id < vocabSize) : [];
    assert(allowed.length > 0, "nothing may be drawn");
    if (scripted !== undefined && allowed.includes(scripted)) return scripted;
    return allowed[hash % allowed.length] ?? 0;
  }

  /** Returns a hash of all positions before `length` that the last row sees. */
  #hash(slot: number, length: number, row: number, first: number): number {
    const window = this.#options.slidingWindow ?? length;
    if (this.#options.numStateSlots) {
      assert(this.#rowStates[row] === this.#fold(slot, 0, length, 0), "a state is not that of the tokens before it");
    }
    return this.#fold(slot, Math.max(0, length - window), length, first);
  }

  #fold(slot: number, start: number, end: number, first: number): number {
    let hash = first;
    for (let position = start; position < end; position++) {
      hash = mix(hash, this.#cache[this.#address(slot, position)] ?? 0);
    }
    return hash;
  }

  #address(slot: number, position: number): number {
    const { blockSize, numGpuBlocks } = this.#options;
    const block = this.#slot(slot).blockTable[Math.floor(position / blockSize)] ?? -1;
    assert(block >= 0 && block < numGpuBlocks, () => `position ${position} has no block`);
    return block * blockSize + (position % blockSize);
  }

  #slot(slot: number): Slot {
    const state = this.#slots.get(slot);
    assert(state !== undefined, () => `slot ${slot} has no block table`);
    return state;
  }
}

const NOTHING: State = { length: -1, hash: 0 };

function rowAt({ rows }: StepPlan, row: number): [token: number, position: number, slot: number, start: number] {
  const at = row * ROW_WORDS;
  return [rows[at] ?? -1, rows[at + 1] ?? -1, rows[at + 2] ?? -1, rows[at + 3] ?? -1];
}

/** Mixes a number into a 32-bit hash. */
function mix(hash: number, value: number): number {
  let mixed = Math.imul(hash ^ (value >>> 0), 0x9e3779b1) + 0x7f4a7c15;
  mixed = Math.imul(mixed ^ (mixed >>> 15), 0x85ebca6b);
  return (mixed ^ (mixed >>> 13)) >>> 0;
}

/** @param message made only where it is needed: most of these stand in loops over all positions */
function assert(condition: boolean, message: string | (() => string)): asserts condition {
  if (condition) return;
  throw new Error(`The fake runner was misused: ${typeof message === "string" ? message : message()}.`);
}
