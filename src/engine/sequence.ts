import type { FinishReason } from "../protocol/openai.ts";
import type { GrammarMatcher } from "./grammar-matcher.ts";
import type { BeamGroup } from "./beam-group.ts";
import type { SampledToken } from "./runner.ts";
import type { SamplingParams } from "./sampling-params.ts";

export type SequenceStatus =
  | { readonly state: "waiting" }
  | { readonly state: "running" }
  | { readonly state: "finished"; readonly reason: FinishReason };

export interface SequenceFields {
  readonly requestId: string;
  /** Which of the request's choices. */
  readonly index: number;
  readonly params: SamplingParams;
  readonly prompt: readonly number[];
  readonly arrivalMs: number;
  /** Most tokens, prompt and output together. [as params.maxTokens says] */
  readonly maxLength?: number;
  /** Lower is served earlier, under the policy "priority". [0] */
  readonly priority?: number;
  /** Prefixes are shared among sequences of the same salt only. [null] */
  readonly cacheSalt?: string | null;
  /** When it ends, whatever it has. [never] */
  readonly deadlineMs?: number;
  /** A sequence that begins with the same tokens, all but the last, whose blocks this one shares. [none] */
  readonly leader?: Sequence | null;
  /** What its output must be, token by token. [anything] */
  readonly matcher?: GrammarMatcher | null;
  /** Tokens that it has already, behind the prompt. [none] */
  readonly output?: readonly number[];
  /** The beams that it belongs to, or gets its answer from. [none] */
  readonly group?: BeamGroup | null;
}

/**
 * One stream of tokens that the scheduler serves: a request has as many as its `n`. Data and derived values, no policy.
 *
 *   tokens:   [ prompt ........ | output .... ] + placeholders    (being sampled, their ids known to the GPU alone)
 *               ^0              ^promptLength  ^tokens.length   ^numTokens
 *   computed: [ keys and values in the cache ) numComputedTokens  (or in a step that is planned)
 */
export class Sequence {
  readonly requestId: string;
  readonly index: number;
  readonly params: SamplingParams;
  readonly promptLength: number;
  readonly tokens: number[];
  readonly arrivalMs: number;
  readonly maxLength: number;
  readonly priority: number;
  readonly cacheSalt: string | null;
  readonly deadlineMs: number;
  readonly leader: Sequence | null;
  readonly matcher: GrammarMatcher | null;
  /** Tokens that it has in common with its leader, whatever becomes of both. */
  readonly numSharedTokens: number;
  readonly group: BeamGroup | null;

  /** As a beam: its next token is chosen, here, when those of the others are. Until then it has no rows. */
  isHeld = false;
  status: SequenceStatus = { state: "waiting" };
  numComputedTokens = 0;
  /** Tokens that steps in flight are sampling. */
  numPlaceholders = 0;
  /** Tokens that may come next, whose rows are in flight behind the newest token's. */
  drafts: readonly number[] = [];
  /** Drafts that were of no use, one after the other, and the length from which on it drafts again. */
  draftMisses = 0;
  draftPause = 0;
  /** Physical block of each blockSize positions. */
  blockTable: number[] = [];
  /** How many of its blocks have been offered to the prefix cache, and the last one's name there. */
  numPublishedBlocks = 0;
  publishedChain: string | null = null;
  /** Row of the GPU's per-sequence tables while it runs; null otherwise. */
  slot: number | null = null;
  /** Place among those that run: lower is served first and gives way last. Set on admission. */
  rank = 0;
  /** Steps it has waited, whenever that was, up to waitingSinceStep if it waits. */
  waitedSteps = 0;
  waitingSinceStep = 0;

  /** Tokens found in the cache on first admission. */
  numCachedTokens = 0;
  numPreemptions = 0;
  /** When it was first scheduled. */
  scheduledMs: number | null = null;
  firstTokenMs: number | null = null;
  finishedMs: number | null = null;
  /** Its prompt's tokens but the first, scored, as far as it was computed; empty where nobody wants them. */
  promptScores: SampledToken[] = [];
  /** Of the answer that beam search has found for it. */
  score: number | null = null;

  constructor(fields: SequenceFields) {
    this.requestId = fields.requestId;
    this.index = fields.index;
    this.params = fields.params;
    this.promptLength = fields.prompt.length;
    this.tokens = [...fields.prompt, ...(fields.output ?? [])];
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

  /** All tokens, those that are still being sampled included. */
  get numTokens(): number {
    return this.tokens.length + this.numPlaceholders;
  }

  /**
   * Tokens still to be computed before the next one can be sampled; 1 while decoding, 0 once the last is under way, and
   * while it is open which of its drafts hold, how its group goes on, or what its grammar lets come next.
   */
  get numPendingTokens(): number {
    const waitsForMask = this.matcher !== null && this.numPlaceholders > 0;
    const isOpen = this.isHeld || waitsForMask || this.drafts.length > 0;
    return this.numTokens >= this.maxLength || isOpen ? 0 : this.numTokens - this.numComputedTokens;
  }

  /** Prompt tokens whose probabilities are wanted, told with the first token of the output, and not yet planned. */
  get numUnscoredTokens(): number {
    if (this.params.promptLogprobs === null || this.numOutputTokens > 0) return 0;
    return Math.max(0, this.promptLength - 1 - this.numComputedTokens);
  }

  get isFinished(): boolean {
    return this.status.state === "finished";
  }
}
