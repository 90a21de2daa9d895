// An answer that is complete with its very last allowed token was not cut short: "stop", not "length".
import { describe, expect, it } from "vitest";
import { byteTokens, EngineHarness, EOS, samplingParams, scriptedRunner } from "../../../tests/fakes/engine-harness.ts";
import type { SamplingParams } from "../sampling/sampling-params.ts";

async function answer(script: number[], params: Partial<SamplingParams>, maxModelLen = 64) {
  const harness = new EngineHarness({ runner: scriptedRunner(script), config: { maxModelLen } });
  harness.add("a", [1, 2], { params: samplingParams(params) });
  await harness.runToEnd();
  const { text, finishReason, stopReason } = harness.choice("a");
  return { text, finishReason, stopReason };
}

const ab = byteTokens("ab");

describe("the last allowed token", () => {
  it("ends with stop when it is end-of-text", async () => {
    expect(await answer([...ab, EOS], { maxTokens: 3 })).toEqual({
      text: "ab",
      finishReason: "stop",
      stopReason: null,
    });
  });

  it("ends with stop when it is a stop id, and that is no text", async () => {
    const params = { maxTokens: 3, stopTokenIds: [33] };
    expect(await answer([...ab, 33], params)).toEqual({ text: "ab", finishReason: "stop", stopReason: 33 });
  });

  it("ends with stop when it completes a stop string", async () => {
    const params = { maxTokens: 3, stop: ["b!"] };
    expect(await answer(byteTokens("ab!"), params)).toEqual({ text: "a", finishReason: "stop", stopReason: "b!" });
  });

  it("ends with length otherwise, also when it is end-of-text under ignoreEos", async () => {
    const length = { text: "ab", finishReason: "length", stopReason: null };
    expect(await answer([...ab, EOS], { maxTokens: 3, ignoreEos: true })).toEqual(length);
    expect(await answer([...ab, 33], { maxTokens: 2 })).toEqual(length);
  });

  it("may be the context's last: end-of-text there is stop as well", async () => {
    const stop = { text: "ab", finishReason: "stop", stopReason: null };
    expect(await answer([...ab, EOS], { maxTokens: 3 }, 5)).toEqual(stop);
  });

  it("shows at the end what was held back as the beginning of a stop string", async () => {
    const params = { maxTokens: 2, stop: ["bc"] };
    expect(await answer(ab, params)).toEqual({ text: "ab", finishReason: "length", stopReason: null });
  });
});
