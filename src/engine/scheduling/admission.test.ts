import { describe, expect, it } from "vitest";
import { ChorusError } from "../../protocol/errors.ts";
import { checkAdmission, maxSequenceLength, type Limits } from "./admission.ts";

const LIMITS: Limits = { maxModelLen: 100, blockSize: 16, numGpuBlocks: 100 };

function refusal(promptLength: number, maxTokens: number, limits: Limits = LIMITS): ChorusError {
  try {
    checkAdmission(promptLength, maxTokens, "messages", limits);
  } catch (error) {
    if (error instanceof ChorusError) return error;
  }
  throw new Error("It was admitted.");
}

describe("checkAdmission", () => {
  it("admits a request that fills the context exactly", () => {
    expect(() => checkAdmission(60, 40, "prompt", LIMITS)).not.toThrow();
  });

  it("refuses an empty prompt", () => {
    expect(refusal(0, 10)).toMatchObject({ code: "invalid_value", param: "messages" });
  });

  it("says by how much prompt and answer together are too long, and what would do", () => {
    const error = refusal(70, 40);
    expect(error).toMatchObject({ code: "context_length_exceeded", param: "messages" });
    expect(error.message).toContain("70 tokens and max_tokens is 40");
    expect(error.message).toContain("Shorten the prompt by 10 tokens or lower max_tokens to 30.");
  });

  it("does not suggest a lower max_tokens where the prompt alone leaves no room", () => {
    const error = refusal(100, 1);
    expect(error.code).toBe("context_length_exceeded");
    expect(error.message).toContain("Shorten the prompt by at least 1 token.");
    expect(error.message).not.toContain("max_tokens");
    expect(refusal(29_904, 1, { ...LIMITS, maxModelLen: 512 }).message).toBe(
      "This is 29,904 tokens; the model reads 512, answer included. Shorten the prompt by at least 29,393 tokens.",
    );
  });

  it("admits a request that fills the whole cache exactly", () => {
    expect(() => checkAdmission(40, 24, "prompt", { ...LIMITS, numGpuBlocks: 4 })).not.toThrow();
  });

  it("refuses what the whole cache cannot hold, naming its capacity", () => {
    const error = refusal(40, 25, { ...LIMITS, numGpuBlocks: 4 });
    expect(error).toMatchObject({ code: "cache_capacity_exceeded", param: "messages" });
    expect(error.message).toContain("64 tokens");
  });
});

describe("maxSequenceLength", () => {
  it("is the context, or the cache where that is smaller", () => {
    expect(maxSequenceLength(LIMITS)).toBe(100);
    expect(maxSequenceLength({ ...LIMITS, numGpuBlocks: 3 })).toBe(48);
  });
});
