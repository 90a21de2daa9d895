import type { SchedulingPolicy } from "../../protocol/config.ts";
import type { Sequence } from "../core/sequence.ts";

/** Rank of a sequence in the queue. Lower ranks are served first; equals in order of arrival. */
export type Rank = (sequence: Sequence, waitedSteps: number) => number;

/**
 * A waiting sequence gains a fixed amount each step, and keeps it when it is preempted. Later arrivals start without it. So
 * every sequence gets its turn under every policy.
 */
export const RANKS: Readonly<Record<SchedulingPolicy, Rank>> = {
  /** By arrival. */
  fcfs: () => 0,
  /** By the request's number; a hundred steps of waiting are worth one. */
  priority: (sequence, waitedSteps) => sequence.priority - waitedSteps / 100,
  /** By the most rows that are left to compute; a step of waiting is worth one row. */
  "shortest-remaining": (sequence, waitedSteps) => sequence.maxLength - sequence.numComputedTokens - waitedSteps,
  /** By output tokens so far; a step of waiting is worth one token. */
  balanced: (sequence, waitedSteps) => sequence.numOutputTokens - waitedSteps,
};
