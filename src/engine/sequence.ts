import type { FinishReason } from "../protocol/openai.ts";
import type { GrammarMatcher } from "./sampling/grammar-matcher.ts";
import type { SampledToken } from "./runner.ts";
import type { PlannedState } from "./step-plan.ts";
import type { SamplingParams } from "./sampling/sampling-params.ts";

/** Sequences that advance together: the beams of a search. */
export interface SequenceGroup {
  readonly numBeams: number;
  /** Sequences that the scheduler serves, or will serve. */
  readonly members: readonly Sequence[];
  readonly isFinished: boolean;
  /** Whether a member's next tokens are known, so that it waits for the others'. */
  hasCandidates(member: Sequence): boolean;
}

export interface SequenceFields {
  readonly requestId: string;
  /** Index among the request's choices. */
  readonly index: number;
  readonly params: SamplingParams;
  readonly prompt: readonly number[];
  readonly arrivalMs: number;
  /** Most tokens, prompt and output together. [as params.maxTokens says] */
  readonly maxLength?: number;
  /** The policy "priority" serves lower numbers earlier. [0] */
  readonly priority?: number;
  /** Only sequences with the same salt share prefixes. [null] */
  readonly cacheSalt?: string | null;
  /** When it must end, finished or not. [never] */
  readonly deadlineMs?: number;
  /** A sequence that begins with the same tokens, except the last. This one shares its blocks. [none] */
  readonly leader?: Sequence | null;
  /** The grammar that its output follows. [none] */
  readonly matcher?: GrammarMatcher | null;
  /** Output tokens that it begins with. [none] */
  readonly output?: readonly number[];
  /** The beam search that it is a beam of, or gets its answer from. [none] */
  readonly group?: SequenceGroup | null;
}

/** A sequence's share of a step: rows for positions start .. start + count - 1. */
export interface ScheduledSequence {
  readonly sequence: Sequence;
  readonly start: number;
  readonly count: number;
  /** Whether the newest token's row is among them, so that the next token is sampled from it. */
  readonly samples: boolean;
  /** Guesses at the tokens after the newest one. They have the last rows, and each row samples a token too. */
  readonly drafts: readonly number[];
  /** Number of first rows that score the prompt token that follows them. */
  readonly scored: number;
  /** Tokens before `start` that the prefix cache had, if this step admitted the sequence; else 0. */
  readonly cachedTokens: number;
  /** Where its state comes from and goes to. [the model keeps none] */
  readonly state?: PlannedState;
}

type Mutable<T> = { -readonly [Field in keyof T]: T[Field] };

/** A sequence's slot and blocks when it begins to run. */
interface Admission {
  readonly slot: number;
  readonly blocks: number[];
  /** Number of first tokens whose keys and values are in the blocks already. */
  readonly numCachedTokens: number;
  /** Number of those blocks that the prefix cache has, and its name for the last one. */
  readonly numPublishedBlocks: number;
  readonly publishedChain: string | null;
}

/**
 * One stream of tokens that the scheduler serves; a request has `n` of them. Only its own methods can change it, and they hold
 * no policy: the scheduler and others decide which to call.
 *
 *   tokens:   [ prompt ........ | output .... ] + placeholders    (being sampled, their ids known to the GPU alone)
 *               ^0              ^promptLength  ^tokens.length   ^numTokens
 *   computed: [ keys and values in the cache ) numComputedTokens  (or in a step that is planned)
 */
export class Sequence {
  /** The same object, as its own methods may write it. */
  readonly #own: Mutable<Sequence> = this;
  readonly #tokens: number[];
  #blocks: number[] = [];

  readonly requestId: string;
  readonly index: number;
  readonly params: SamplingParams;
  readonly promptLength: number;
  readonly tokens: readonly number[];
  readonly arrivalMs: number;
  readonly maxLength: number;
  readonly priority: number;
  readonly cacheSalt: string | null;
  readonly deadlineMs: number;
  readonly leader: Sequence | null;
  readonly matcher: GrammarMatcher | null;
  /** Number of first tokens that are always the same as its leader's. */
  readonly numSharedTokens: number;
  readonly group: SequenceGroup | null;

  /** Whether it gets no rows: a beam until all beams of its group have their candidates, others until their mask is made. */
  readonly isHeld: boolean = false;
  readonly finishReason: FinishReason | null = null;
  readonly numComputedTokens: number = 0;
  /** Number of tokens that steps in flight are sampling. */
  readonly numPlaceholders: number = 0;
  /** Guesses at the next tokens. Their rows are in flight, after the newest token's. */
  readonly drafts: readonly number[] = [];
  /** Physical block of each blockSize positions. A new array at each admission. */
  readonly blockTable: readonly number[] = this.#blocks;
  /** Number of first blocks of the table that it gave back, because no row will see them again. */
  readonly numFreedBlocks: number = 0;
  /** Number of blocks that the prefix cache has, and its name for the last one. */
  readonly numPublishedBlocks: number = 0;
  readonly publishedChain: string | null = null;
  /** Row of the GPU's per-sequence tables while it runs; null otherwise. */
  readonly slot: number | null = null;
  /** Lower ranks are served first and preempted last. */
  readonly rank: number = 0;
  /** Total steps spent waiting, up to waitingSinceStep. */
  readonly waitedSteps: number = 0;
  readonly waitingSinceStep: number = 0;

  /** Number of tokens that the prefix cache had on first admission. */
  readonly numCachedTokens: number = 0;
  readonly numPreemptions: number = 0;
  /** Number of tokens drafted for it, and of those accepted. */
  readonly numDraftTokens: number = 0;
  readonly numAcceptedTokens: number = 0;
  /** When it was first scheduled. */
  readonly scheduledMs: number | null = null;
  readonly firstTokenMs: number | null = null;
  readonly finishedMs: number | null = null;
  /** The scored prompt tokens so far, from the second one on; empty if not requested. */
  readonly promptScores: readonly SampledToken[] = [];
  /** Score of the answer that a beam search found for it. */
  readonly score: number | null = null;

  constructor(fields: SequenceFields) {
    this.requestId = fields.requestId;
    this.index = fields.index;
    this.params = fields.params;
    this.promptLength = fields.prompt.length;
    this.#tokens = [...fields.prompt, ...(fields.output ?? [])];
    this.tokens = this.#tokens;
    this.arrivalMs = fields.arrivalMs;
    this.maxLength = Math.min(fields.maxLength ?? Infinity, fields.prompt.length + fields.params.maxTokens);
    this.priority = fields.priority ?? 0;
    this.cacheSalt = fields.cacheSalt ?? null;
    this.deadlineMs = fields.deadlineMs ?? Infinity;
    this.leader = fields.leader ?? null;
    this.matcher = fields.matcher ?? null;
    this.numSharedTokens = this.tokens.length - 1;
    this.group = fields.group ?? null;
  }

  get numOutputTokens(): number {
    return this.tokens.length - this.promptLength;
  }

  /** Number of all tokens, those that are still being sampled included. */
  get numTokens(): number {
    return this.tokens.length + this.numPlaceholders;
  }

  /**
   * Number of tokens to compute before the next one can be sampled: 1 while decoding. 0 once the last token is on its way,
   * and while the sequence waits for the results of its drafts, for the other beams, or for its grammar's mask.
   */
  get numPendingTokens(): number {
    const waitsForToken = this.matcher !== null && this.numPlaceholders > 0;
    const isOpen = this.isHeld || waitsForToken || this.drafts.length > 0;
    return this.numTokens >= this.maxLength || isOpen ? 0 : this.numTokens - this.numComputedTokens;
  }

  /** Number of prompt tokens still to be scored. The scores are returned with the first output token. */
  get numUnscoredTokens(): number {
    if (this.params.promptLogprobs === null || this.numOutputTokens > 0) return 0;
    return Math.max(0, this.promptLength - 1 - this.numComputedTokens);
  }

  get isFinished(): boolean {
    return this.finishReason !== null;
  }

  get isRunning(): boolean {
    return this.slot !== null;
  }

  /** Enters the queue, at first or after a preemption. */
  queue(step: number): void {
    this.#own.waitingSinceStep = step;
  }

  /** Counts the steps it has waited, and ranks it by them. */
  age(step: number, rank: (sequence: Sequence, waitedSteps: number) => number): void {
    this.#own.waitedSteps += step - this.waitingSinceStep;
    this.#own.waitingSinceStep = step;
    this.rerank(rank);
  }

  /** Ranks it again, without counting further waiting. */
  rerank(rank: (sequence: Sequence, waitedSteps: number) => number): void {
    this.#own.rank = rank(this, this.waitedSteps);
  }

  admit({ slot, blocks, numCachedTokens, numPublishedBlocks, publishedChain }: Admission): void {
    this.#own.slot = slot;
    this.#blocks = blocks;
    this.#own.blockTable = blocks;
    this.#own.numComputedTokens = numCachedTokens;
    this.#own.numPublishedBlocks = numPublishedBlocks;
    this.#own.publishedChain = publishedChain;
    if (this.isFirstAdmission) this.#own.numCachedTokens = numCachedTokens;
  }

  /** Whether it has never run before, and is not a beam that continues another. */
  get isFirstAdmission(): boolean {
    return this.numPreemptions === 0 && this.numOutputTokens === 0;
  }

  /** The blocks of its table that it has not given back. */
  get ownBlocks(): readonly number[] {
    return this.numFreedBlocks === 0 ? this.blockTable : this.blockTable.slice(this.numFreedBlocks);
  }

  /** Gives up its first `count` blocks, and returns those that it had not given up before. */
  giveUpBlocks(count: number): readonly number[] {
    const given = this.blockTable.slice(this.numFreedBlocks, count);
    this.#own.numFreedBlocks += given.length;
    return given;
  }

  addBlocks(blocks: readonly number[]): void {
    this.#blocks.push(...blocks);
  }

  /** Adds guesses at the next tokens to its next rows. */
  draft(drafts: readonly number[]): void {
    this.#own.drafts = drafts;
  }

  /** Gives it rows for its next `count` tokens, and for its drafts. */
  giveRows(count: number, cachedTokens: number, nowMs: number): ScheduledSequence {
    const { drafts, numComputedTokens: start } = this;
    const samples = start + count === this.numTokens;
    const scored = Math.min(count, this.numUnscoredTokens);
    const rows = count + drafts.length;
    this.#own.numComputedTokens += rows;
    if (this.group !== null) this.#own.isHeld = samples;
    else if (samples) this.#own.numPlaceholders += 1 + drafts.length;
    this.#own.scheduledMs ??= nowMs;
    return { sequence: this, start, count: rows, samples, drafts, scored, cachedTokens };
  }

  /** Gives it no rows until release(), preempted or not. */
  hold(): void {
    this.#own.isHeld = true;
  }

  release(): void {
    this.#own.isHeld = false;
  }

  /**
   * Keeps the first `accepted` drafts and takes back the rows of the others.
   * @param hasState a state goes back to before the drafts if any was wrong: the rows of all are computed again
   */
  settleDrafts(accepted: number, hasState = false): void {
    this.#own.numDraftTokens += this.drafts.length;
    this.#own.numAcceptedTokens += accepted;
    const rejected = this.drafts.length - accepted;
    this.#own.numPlaceholders -= rejected;
    this.#own.numComputedTokens -= rejected > 0 && hasState ? this.drafts.length : rejected;
    this.#own.drafts = [];
  }

  /** Takes its next token, which was sampled for it or which its beam search chose. */
  append(tokenId: number): void {
    this.#tokens.push(tokenId);
    if (this.group === null) this.#own.numPlaceholders -= 1;
    this.#own.isHeld = false;
  }

  addPromptScores(start: number, scored: readonly SampledToken[]): void {
    this.#own.promptScores = [...(start === 0 ? [] : this.promptScores), ...scored];
  }

  /** Notes that the prefix cache has its next full block, under this name. */
  publish(chain: string): void {
    this.#own.numPublishedBlocks += 1;
    this.#own.publishedChain = chain;
  }

  /** Preemption by recomputation: it keeps only its tokens. Tokens in flight, lost with their device, are drawn again. */
  preempt(): void {
    this.#release();
    this.#own.numPlaceholders = 0;
    if (this.group !== null) this.#own.isHeld = this.group.hasCandidates(this);
    this.#own.numPreemptions += 1;
  }

  finish(reason: FinishReason): void {
    this.#release();
    this.matcher?.dispose();
    this.#own.finishReason = reason;
  }

  noteFirstToken(atMs: number): void {
    this.#own.firstTokenMs = atMs;
  }

  noteEnd(atMs: number): void {
    this.#own.finishedMs = atMs;
  }

  /** Takes the figures of the beams that compute its answer. */
  describeBeams(beams: readonly Sequence[], score: number | null): void {
    this.#own.scheduledMs ??= beams[0]?.scheduledMs ?? null;
    this.#own.numCachedTokens = Math.max(this.numCachedTokens, ...beams.map(({ numCachedTokens }) => numCachedTokens));
    this.#own.numPreemptions = Math.max(this.numPreemptions, ...beams.map(({ numPreemptions }) => numPreemptions));
    this.#own.score = score;
  }

  #release(): void {
    this.#blocks = [];
    this.#own.blockTable = this.#blocks;
    this.#own.numFreedBlocks = 0;
    this.#own.slot = null;
    this.#own.drafts = [];
    this.#own.numComputedTokens = 0;
    this.#own.numPublishedBlocks = 0;
    this.#own.publishedChain = null;
  }
}
