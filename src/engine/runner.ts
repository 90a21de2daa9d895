import type { KernelTime } from "../protocol/reports.ts";
import type { DrawNeeds, StepPlan } from "./step-plan.ts";

/**
 * A token and the natural log of its probability: under the raw logits (before rules, temperature and filters), or, where
 * the engine's logprobsMode is "processed_logprobs" and the token is not a prompt's, after all of them. At or
 * below LOWEST_LOGPROB the token is impossible.
 */
export interface TokenLogprob {
  readonly tokenId: number;
  readonly logprob: number;
}

/** A drawn token, or a scored token of the prompt. */
export interface SampledToken extends TokenLogprob {
  /** A prompt token's place among all tokens by likelihood; 1 is the likeliest. */
  readonly rank?: number;
  /** The most likely possible tokens in order, as many as the sequence requests; equally likely ones by id. */
  readonly top?: readonly TokenLogprob[];
}

/** A step's result for one sequence. */
export interface SequenceResult {
  readonly scored: readonly SampledToken[];
  /** The token after the newest one, then one after each draft. */
  readonly drawn: readonly SampledToken[];
}

export interface StepResult {
  /** In the order of `StepPlan.sequences`. */
  readonly sequences: readonly SequenceResult[];
  /** GPU time of the step, where the device can measure it: from the beginning of its first pass to the end of its last. */
  readonly gpuMs: number | null;
  /** The time of each kernel, if this step was timed kernel by kernel; empty if the clock failed. [it was not] */
  readonly kernels?: readonly KernelTime[];
}

/**
 * Computes steps. backends/gpu/gpu-runner.ts does so on the GPU; tests use a fake one.
 *
 * submit() may read the plan after it has returned, so nobody changes one. It resolves when the tokens are known. Several
 * steps may be in flight: a runner keeps the token that it drew last in each slot, and a row with FEEDBACK takes its token
 * from there.
 */
export interface Runner {
  submit(plan: StepPlan): Promise<StepResult>;
  /**
   * Returns what a sequence's first step must wait for; null for nothing, and from then on always null for such draws. The
   * promise rejects if they can't be computed here (kernel_refused), or if the device is lost. [null]
   */
  missing?(needs: DrawNeeds): Promise<void> | null;
}

export interface Runners {
  readonly runner: Runner;
  /** A small model with the same tokens, which drafts, and the most tokens of a sequence in it. [none] */
  readonly draft?: { readonly runner: Runner; readonly maxLength: number } | null;
}

const NO_TOKENS: readonly SampledToken[] = [];

/** Returns the results per sequence, given those of `plan.samples` in order. */
export function resultsBySequence(plan: StepPlan, tokens: readonly SampledToken[]): SequenceResult[] {
  let next = 0;
  return plan.sequences.map(({ numScored, numDrawn }) => {
    const scored = numScored === 0 ? NO_TOKENS : tokens.slice(next, (next += numScored));
    return { scored, drawn: tokens.slice(next, (next += numDrawn)) };
  });
}
