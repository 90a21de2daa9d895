import type { SamplingParams } from "./sampling-params.ts";
import type { FinishReason } from "../protocol/openai.ts";

export type SequenceStatus =
  | { readonly state: "waiting" }
  | { readonly state: "running" }
  | { readonly state: "finished"; readonly reason: FinishReason };

/**
 * One stream of tokens that the scheduler serves: a request has as many as its `n`. Data and derived values, no policy.
 *
 *   tokens:   [ prompt ........ | output .... ]
 *               ^0              ^promptLength  ^tokens.length
 *   computed: [ keys and values in the cache ) numComputedTokens
 */
export class Sequence {
  readonly requestId: string;
  /** Which of the request's choices. */
  readonly index: number;
  readonly params: SamplingParams;
  readonly promptLength: number;
  readonly tokens: number[];
  readonly arrivalMs: number;

  status: SequenceStatus = { state: "waiting" };
  /** Tokens whose keys and values are in the cache (or in a step that is planned). At most tokens.length. */
  numComputedTokens = 0;
  /** Physical block of each blockSize positions. */
  blockTable: number[] = [];
  /** Row of the GPU's per-sequence tables while it runs; null otherwise. */
  slot: number | null = null;

  /** When it was first scheduled. */
  scheduledMs: number | null = null;
  firstTokenMs: number | null = null;
  finishedMs: number | null = null;

  constructor(fields: {
    requestId: string;
    index: number;
    params: SamplingParams;
    prompt: readonly number[];
    arrivalMs: number;
  }) {
    this.requestId = fields.requestId;
    this.index = fields.index;
    this.params = fields.params;
    this.promptLength = fields.prompt.length;
    this.tokens = [...fields.prompt];
    this.arrivalMs = fields.arrivalMs;
  }

  get numOutputTokens(): number {
    return this.tokens.length - this.promptLength;
  }

  /** Tokens still to be computed before the next one can be sampled; 1 while decoding. */
  get numPendingTokens(): number {
    return this.tokens.length - this.numComputedTokens;
  }

  get isFinished(): boolean {
    return this.status.state === "finished";
  }
}
