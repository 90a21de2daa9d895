// A request that can never fit must be refused when it arrives: in the queue it would block everybody for ever.
import { describe, expect, it } from "vitest";
import { EngineHarness, ROOMY, samplingParams } from "../../../tests/fakes/engine-harness.ts";
import { Scheduler } from "../scheduling/scheduler.ts";
import { Sequence } from "../sequence.ts";

const TINY = { maxModelLen: 64, blockSize: 4, numGpuBlocks: 4 };
const prompt = (length: number) => Array.from({ length }, (_, i) => i);
const FULL_LENGTH = { params: samplingParams({ ignoreEos: true, maxTokens: 8 }) };

describe("a request that can never fit", () => {
  it.each([
    ["an empty prompt", 0, "invalid_value"],
    ["a prompt beyond the context", 64, "context_length_exceeded"],
    ["a prompt whose answer goes beyond the context", 57, "context_length_exceeded"],
    ["a prompt that the cache can't hold", 17, "cache_capacity_exceeded"],
    ["a prompt whose answer the cache can't hold", 9, "cache_capacity_exceeded"],
  ])("is refused at once: %s", (_, length, code) => {
    const harness = new EngineHarness({ config: TINY });
    let refusal: unknown = null;
    try {
      harness.add("a", prompt(length), { param: "messages" });
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code, param: "messages" });
    expect(harness.hasWork).toBe(false);
    expect(harness.requests).toEqual([]);
  });

  it("leaves the others untouched", async () => {
    const harness = new EngineHarness({ config: TINY });
    harness.add("before", prompt(3));
    expect(() => harness.add("never", prompt(30))).toThrow("whole key/value cache");
    harness.add("after", prompt(3));
    await harness.runToEnd();
    expect(harness.choice("before").finishReason).not.toBeNull();
    expect(harness.choice("after").finishReason).not.toBeNull();
  });

  it("is not one that fills the cache to the last token: that runs to its full length, alone and in company", async () => {
    const harness = new EngineHarness({ config: TINY });
    harness.add("a", prompt(8), FULL_LENGTH);
    harness.add("b", prompt(8), FULL_LENGTH);
    await harness.runToEnd(100);
    for (const id of ["a", "b"]) {
      expect(harness.choice(id).tokenIds).toHaveLength(8);
      expect(harness.choice(id).finishReason).toBe("length");
    }
  });

  it("makes the scheduler throw, rather than spin, should it get past the door", () => {
    const scheduler = new Scheduler({
      ...ROOMY,
      maxNumSeqs: 1,
      maxNumBatchedTokens: 16,
      blockSize: 4,
      numGpuBlocks: 4,
    });
    const params = samplingParams();
    scheduler.add(new Sequence({ requestId: "a", index: 0, params, prompt: prompt(17), arrivalMs: 0 }));
    expect(() => scheduler.schedule(0, true)).toThrow("17 tokens can never fit");
  });
});
