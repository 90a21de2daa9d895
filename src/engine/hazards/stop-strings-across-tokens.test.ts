// A stop string seldom is one token. None of it may be shown, and nothing that follows it.
import { describe, expect, it } from "vitest";
import { byteTokens, EngineHarness, samplingParams, scriptedRunner } from "../../../tests/fakes/engine-harness.ts";

/** The text as it grows from step to step. */
async function stream(text: string, stop: string[], includeStopStrInOutput = false) {
  const harness = new EngineHarness({ runner: scriptedRunner(byteTokens(text)) });
  const params = samplingParams({ stop, includeStopStrInOutput, maxTokens: byteTokens(text).length });
  harness.add("a", [1], { params });
  const shown: string[] = [];
  while (harness.hasWork) {
    await harness.step();
    shown.push(harness.choice("a").text);
  }
  return { shown, ...harness.choice("a") };
}

describe("a stop string that is spread over tokens", () => {
  it("is never shown in part", async () => {
    const { shown, finishReason, stopReason } = await stream("Hi\nUser: x", ["\nUser:"]);
    expect(shown).toEqual(["H", "Hi", "Hi", "Hi", "Hi", "Hi", "Hi", "Hi"]);
    expect({ finishReason, stopReason }).toEqual({ finishReason: "stop", stopReason: "\nUser:" });
  });

  it("ends the answer with the token that completes it", async () => {
    expect((await stream("a END and more", ["END"])).tokenIds).toEqual(byteTokens("a END"));
  });

  it("is shown whole with includeStopStrInOutput", async () => {
    expect((await stream("a END and more", ["END"], true)).text).toBe("a END");
  });

  it("holds back no more than what it could begin with", async () => {
    expect((await stream("abxab.", ["abc"])).shown).toEqual(["", "", "abx", "abx", "abx", "abxab."]);
  });

  it("may contain characters of several tokens", async () => {
    expect(await stream("ok 😀é!", ["😀é"])).toMatchObject({ text: "ok ", stopReason: "😀é" });
  });

  it("may lie in the middle of one token's text", async () => {
    const vocabulary = [new TextEncoder().encode("one. two"), new Uint8Array()];
    const harness = new EngineHarness({ vocabulary, runner: scriptedRunner([0]) });
    harness.add("a", [0], { params: samplingParams({ stop: [". "] }) });
    await harness.runToEnd();
    expect(harness.choice("a")).toMatchObject({ text: "one", stopReason: ". ", tokenIds: [0] });
  });

  it("is not looked for in the prompt, nor across its border", async () => {
    const harness = new EngineHarness({ runner: scriptedRunner(byteTokens("D!")) });
    harness.add("a", byteTokens("END EN"), { params: samplingParams({ stop: ["END"], maxTokens: 2 }) });
    await harness.runToEnd();
    expect(harness.choice("a")).toMatchObject({ text: "D!", finishReason: "length" });
  });
});
