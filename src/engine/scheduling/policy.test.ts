import { describe, expect, it } from "vitest";
import { samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { Sequence } from "../sequence.ts";
import { POLICIES } from "./policy.ts";
import { RemainingSteps } from "./remaining-steps.ts";

/** A sequence that takes half a step for its prompt, and a step for each token. */
function sequence(maxTokens: number): Sequence {
  const params = samplingParams({ maxTokens });
  return new Sequence({ requestId: "a", index: 0, params, prompt: [1], arrivalMs: 0 });
}

const remainingSteps = new RemainingSteps({ maxNumBatchedTokens: 2 });
const rank = (maxTokens: number, waitedSteps: number, longestSteps = Infinity) =>
  POLICIES.balanced.rank(sequence(maxTokens), waitedSteps, { remainingSteps, longestSteps });

describe("balanced", () => {
  it("ranks by the square of waiting, relative to the expected steps", () => {
    expect(rank(9, 3)).toBe(-16 / 9.5);
    expect(rank(4, 0)).toBe(-1 / 4.5);
    expect(rank(100, 0)).toBeGreaterThan(rank(4, 0));
    expect(rank(100, 30)).toBeLessThan(rank(4, 5));
  });

  it("adds the steps by which the batch would last longer", () => {
    expect(rank(20, 0, 12.5)).toBe(-1 / (20.5 + 8));
    expect(rank(20, 0, 20.5)).toBe(rank(20, 0));
    expect(rank(20, 0, 500)).toBe(rank(20, 0));
  });

  it("ranks what was preempted before everything else", () => {
    const preempted = sequence(100);
    preempted.preempt();
    const first = POLICIES.balanced.rank(preempted, 0, { remainingSteps, longestSteps: 0 });
    expect(first).toBeLessThan(rank(1, 1e6));
  });

  it("lets nobody be overtaken for ever: newcomers must have waited in proportion to the root of their cost", () => {
    for (const waited of [10, 100, 1000]) {
      const patient = rank(64, waited);
      expect(rank(4, Math.floor(waited * Math.sqrt(4.5 / 64.5)) - 1)).toBeGreaterThan(patient);
    }
  });
});
