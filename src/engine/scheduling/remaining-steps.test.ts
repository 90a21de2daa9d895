import { describe, expect, it } from "vitest";
import { samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { Sequence } from "../sequence.ts";
import { RemainingSteps } from "./remaining-steps.ts";

const PROMPT = Array.from({ length: 32 }, () => 1);

function sequence(maxTokens: number, output: readonly number[] = []): Sequence {
  const params = samplingParams({ maxTokens });
  return new Sequence({ requestId: "a", index: 0, params, prompt: PROMPT, arrivalMs: 0, output });
}

function ended(numTokens: number): Sequence {
  return sequence(
    100,
    Array.from({ length: numTokens }, () => 1),
  );
}

describe("the steps that a sequence is expected to take", () => {
  it("are its rows by the budget, and max_tokens, as long as nothing has ended", () => {
    const steps = new RemainingSteps({ maxNumBatchedTokens: 64 });
    expect(steps.of(sequence(20))).toBe(32 / 64 + 20);
    expect(steps.of(sequence(20, [1, 2, 3]))).toBe(35 / 64 + 17);
  });

  it("are max_tokens where that ended all answers", () => {
    const steps = new RemainingSteps({ maxNumBatchedTokens: 32 });
    for (const length of [3, 50, 7]) steps.learn(ended(length), "length");
    expect(steps.of(sequence(80))).toBe(1 + 80);
  });

  it("are the mean of answers that end by themselves, and no more than max_tokens", () => {
    const steps = new RemainingSteps({ maxNumBatchedTokens: 32 });
    for (let i = 0; i < 50; i++) steps.learn(ended(10), "stop");
    expect(steps.of(sequence(10_000))).toBeCloseTo(1 + 10, 6);
    expect(steps.of(sequence(1))).toBeCloseTo(1 + 1, 6);
    // Each of five tokens comes only if the one before was not the last.
    expect(steps.of(sequence(5))).toBeCloseTo(1 + (1 - 0.9 ** 5) / 0.1, 6);
  });

  it("follow the newest answers", () => {
    const steps = new RemainingSteps({ maxNumBatchedTokens: 32 });
    for (let i = 0; i < 100; i++) steps.learn(ended(80), "stop");
    for (let i = 0; i < 640; i++) steps.learn(ended(4), "stop");
    const long = steps.of(sequence(10_000)) - 1;
    expect(long).toBeGreaterThan(4);
    expect(long).toBeLessThan(4.1);
  });

  it("don't follow from answers without tokens", () => {
    const steps = new RemainingSteps({ maxNumBatchedTokens: 32 });
    steps.learn(ended(0), "abort");
    expect(steps.of(sequence(20))).toBe(1 + 20);
  });
});
