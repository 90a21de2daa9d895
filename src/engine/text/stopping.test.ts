import { describe, expect, it } from "vitest";
import { samplingParams } from "../../../tests/fakes/engine-harness.ts";
import type { SamplingParams } from "../sampling/sampling-params.ts";
import { Sequence } from "../sequence.ts";
import { checkStop } from "./stopping.ts";

const EOS_IDS = new Set([50, 51]);

function afterTokens(output: number[], params: Partial<SamplingParams> = {}, maxLength = 100) {
  const sequence = new Sequence({
    requestId: "a",
    index: 0,
    params: samplingParams(params),
    prompt: [50, 1, 2],
    arrivalMs: 0,
    output,
  });
  return checkStop(sequence, EOS_IDS, maxLength);
}

describe("checkStop", () => {
  it("lets a sequence go on", () => {
    expect(afterTokens([7])).toBeNull();
  });

  it("ends at any of the end-of-text ids, without a reason", () => {
    expect(afterTokens([7, 51])).toEqual({ finishReason: "stop", stopReason: null });
  });

  it("goes on over end-of-text with ignoreEos", () => {
    expect(afterTokens([50], { ignoreEos: true })).toBeNull();
  });

  it("ends at a stop id and names it", () => {
    expect(afterTokens([9], { stopTokenIds: [8, 9] })).toEqual({ finishReason: "stop", stopReason: 9 });
  });

  it("obeys a stop id that is an end-of-text id even with ignoreEos", () => {
    const params = { ignoreEos: true, stopTokenIds: [50] };
    expect(afterTokens([50], params)).toEqual({ finishReason: "stop", stopReason: 50 });
  });

  it("takes an id that is both for end-of-text", () => {
    expect(afterTokens([50], { stopTokenIds: [50] })).toEqual({ finishReason: "stop", stopReason: null });
  });

  it("ends with length at maxTokens, not before", () => {
    expect(afterTokens([7], { maxTokens: 2 })).toBeNull();
    expect(afterTokens([7, 7], { maxTokens: 2 })).toEqual({ finishReason: "length", stopReason: null });
  });

  it("ends with length when the context is full", () => {
    expect(afterTokens([7], {}, 5)).toBeNull();
    expect(afterTokens([7, 7], {}, 5)).toEqual({ finishReason: "length", stopReason: null });
  });

  it("does not look at the prompt", () => {
    expect(afterTokens([])).toBeNull();
  });
});
