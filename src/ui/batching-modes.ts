import type { BatchingMode } from "../protocol/config.ts";

/** What people read of each: its name, and what it does. */
export const BATCHING_MODES: readonly (readonly [mode: BatchingMode, name: string, words: string])[] = [
  ["continuous", "Continuous", "Questions join and leave the batch at every step"],
  ["static", "Static", "A batch runs to its end before the next begins"],
  ["sequential", "Sequential", "One question after the other"],
];
