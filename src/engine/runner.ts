import type { Sequence } from "./sequence.ts";

/** A sequence's share of a step: rows for positions start .. start + count - 1. */
export interface ScheduledSequence {
  readonly sequence: Sequence;
  readonly start: number;
  readonly count: number;
  /** Whether the newest token's row is among them, so that the next one is sampled from it. */
  readonly samples: boolean;
  /** Tokens of the last rows, which may come after the newest one: from each of these rows, too, a token is sampled. */
  readonly drafts: readonly number[];
  /** How many of the first rows score the prompt: of each, what was the probability of the token that follows it. */
  readonly scored: number;
  /** Tokens before `start` that were found in the cache when the sequence was admitted in this step; else 0. */
  readonly cachedTokens: number;
}

/**
 * A token and the natural log of its probability: under the raw logits (before rules, temperature and filters), or, where
 * the engine's logprobsMode is "processed_logprobs" and it is none of a prompt, under what is left after all of them. At or
 * below LOWEST_LOGPROB: it can't come.
 */
export interface TokenLogprob {
  readonly tokenId: number;
  readonly logprob: number;
}

/** A token that was drawn, or one of the prompt that was scored. */
export interface SampledToken extends TokenLogprob {
  /** Of one of the prompt: its place among all tokens by likelihood, from 1 on. */
  readonly rank?: number;
  /** The most likely tokens in order, as many as the sequence wants or can come; equally likely ones by id. */
  readonly top?: readonly TokenLogprob[];
}

export interface StepResult {
  /** Of each entry in order: one for each row that it scores, then, if it samples, one and one for each draft. */
  readonly tokens: readonly SampledToken[];
  /** GPU time of the step, where it can be had. */
  readonly gpuMs: number | null;
}

/**
 * What computes a step. The GPU's implementation is backends/gpu/gpt2-runner.ts; tests use a fake one.
 *
 * submit() reads the plan before it returns, so that the engine may plan the next step at once; the promise resolves
 * when the ids have been read back. The runner remembers what it sampled last in each slot: the row that follows takes
 * its token id from where the sampler left it, so that a step can be submitted before the ids of the one before are known.
 */
export interface Runner {
  submit(step: readonly ScheduledSequence[]): Promise<StepResult>;
}
