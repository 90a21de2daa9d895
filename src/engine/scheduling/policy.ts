import type { SchedulingPolicy } from "../../protocol/config.ts";
import type { Sequence } from "../core/sequence.ts";

/** Where a sequence stands in the queue: lower comes first, and among equals who came first. */
export type Rank = (sequence: Sequence, waitedSteps: number) => number;

/**
 * Whoever waits moves up by a fixed amount each step and keeps it when preempted, and what arrives later begins with none;
 * so whatever a policy prefers, everybody's turn comes.
 */
export const RANKS: Readonly<Record<SchedulingPolicy, Rank>> = {
  /** Who came first. */
  fcfs: () => 0,
  /** The lowest number; a hundred steps of waiting are worth one. */
  priority: (sequence, waitedSteps) => sequence.priority - waitedSteps / 100,
  /** Who needs the fewest rows to its end at the latest; a step of waiting is worth one. */
  "shortest-remaining": (sequence, waitedSteps) => sequence.maxLength - sequence.numComputedTokens - waitedSteps,
  /** Who has had the fewest tokens so far; a step of waiting is worth one. */
  balanced: (sequence, waitedSteps) => sequence.numOutputTokens - waitedSteps,
};
