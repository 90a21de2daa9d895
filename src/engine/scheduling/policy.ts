import type { SchedulingPolicy } from "../../protocol/config.ts";
import type { Sequence } from "../sequence.ts";
import type { RemainingSteps } from "./remaining-steps.ts";

/** The batch that a waiting sequence would join; its rank may depend on it. */
export interface Batch {
  /** Steps that a sequence is expected to take. */
  readonly remainingSteps: RemainingSteps;
  /** Steps until the batch's last sequence is expected to end. */
  readonly longestSteps: number;
}

/** Rank of a waiting sequence. Lower ranks are served first; equals in order of arrival. */
type Rank = (sequence: Sequence, waitedSteps: number, batch: Batch) => number;

interface Policy {
  readonly rank: Rank;
  /** When the order of waiting sequences changes: never, with arrivals, or with every step. */
  readonly changes: "never" | "by arrivals" | "by steps";
  /** The order of running sequences: by their ranks at admission, or by arrival. The last one is preempted. */
  readonly running: "by rank" | "by arrival";
}

/** A rank before all others. */
const FIRST = -Number.MAX_VALUE;

/**
 * Under `priority` and `shortest-remaining` a waiting sequence gains a fixed amount each step, and keeps it when it is
 * preempted. Later arrivals start without it. So every sequence gets its turn.
 */
export const POLICIES: Readonly<Record<SchedulingPolicy, Policy>> = {
  /** By arrival. */
  fcfs: { rank: () => 0, changes: "never", running: "by rank" },
  /** By the request's number; a hundred steps of waiting are worth one. */
  priority: {
    rank: (sequence, waitedSteps) => sequence.priority - waitedSteps / 100,
    changes: "by arrivals",
    running: "by rank",
  },
  /** By the most rows that are left to compute; a step of waiting is worth one row. */
  "shortest-remaining": {
    rank: (sequence, waitedSteps) => sequence.maxLength - sequence.numComputedTokens - waitedSteps,
    changes: "by arrivals",
    running: "by rank",
  },
  /** By waiting relative to cost: see balancedRank. */
  balanced: { rank: balancedRank, changes: "by steps", running: "by arrival" },
};

/**
 * Ranks first the sequence that has waited longest relative to its cost: the largest
 *
 *   (1 + steps waited)² / (expected steps + steps by which the batch would last longer)
 *
 * This is "highest response ratio next" with two changes. The second summand brings the batch's remaining lengths together: a
 * sequence that would outlast all others counts up to double, so long ones start beside long ones. That matters where the
 * last ones run alone, above all in static batches. The square makes waiting count more: of two requests that came together,
 * one four times as long waits twice as long. Without it, requests of nearly the same length would overtake each other, and
 * the slowest answers of a long queue would come 5% later than under fcfs.
 *
 * Nobody starves: the figure grows with every step. A sequence that costs c and has waited w is only overtaken by those that
 * cost c' and have waited about w * sqrt(c' / c) themselves.
 *
 * Sequences that were preempted go first, and the running ones are served by arrival. So the last one to arrive is
 * preempted, which has the least to compute again, and its blocks are still in the prefix cache when it goes on.
 */
function balancedRank(sequence: Sequence, waitedSteps: number, { remainingSteps, longestSteps }: Batch): number {
  if (sequence.numPreemptions > 0 || sequence.numOutputTokens > 0) return FIRST;
  const steps = remainingSteps.of(sequence);
  return -((1 + waitedSteps) ** 2) / (steps + Math.max(0, steps - longestSteps));
}
