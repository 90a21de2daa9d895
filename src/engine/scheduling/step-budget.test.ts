import { expect, test } from "vitest";

import type { Sequence } from "../sequence.ts";
import { maxSamples, maxSpareSamples, type SchedulerConfig } from "./scheduler-config.ts";
import { StepBudget } from "./step-budget.ts";

const CONFIG = {
  maxNumSeqs: 2,
  longPrefillTokenThreshold: 0,
  speculation: { method: "ngram", numTokens: 2 },
} as SchedulerConfig;

test("scores of a prompt and the drafts after it share the samples that there are", () => {
  const spare = maxSpareSamples(CONFIG);
  for (let unscored = 0; unscored < spare; unscored++) {
    const budget = new StepBudget(100, () => Infinity, CONFIG);
    const sequence = { numPendingTokens: unscored + 1, numUnscoredTokens: unscored } as Sequence;
    const count = budget.rowsFor(sequence);
    const drafts = budget.draftsFor(sequence, count, 0);
    const drawn = 1 + drafts;
    // The other sequence has a sample, too.
    expect(unscored + drawn + 1).toBeLessThanOrEqual(maxSamples(CONFIG));
    expect(drafts).toBe(spare - unscored);
  }
});
