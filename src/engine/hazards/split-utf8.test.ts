// A byte-level token is not a character: half of one must wait for the rest, and be shown as U+FFFD only at the end.
import { describe, expect, it } from "vitest";
import { byteTokens, EngineHarness, EOS, samplingParams, scriptedRunner } from "../../../tests/fakes/engine-harness.ts";

async function stream(script: number[], maxTokens = script.length, prompt = [1]) {
  const harness = new EngineHarness({ runner: scriptedRunner(script) });
  harness.add("a", prompt, { params: samplingParams({ maxTokens }) });
  const shown: string[] = [];
  while (harness.hasWork) {
    await harness.step();
    shown.push(harness.choice("a").text);
  }
  return shown;
}

describe("a character that is spread over tokens", () => {
  it("is shown when it is whole", async () => {
    expect(await stream(byteTokens("a😀€"))).toEqual(["a", "a", "a", "a", "a😀", "a😀", "a😀", "a😀€"]);
  });

  it("is shown as U+FFFD when the answer ends inside it, by length or by end-of-text", async () => {
    const bytes = byteTokens("a😀").slice(0, 3);
    expect(await stream(bytes)).toEqual(["a", "a", "a\uFFFD"]);
    expect(await stream([...bytes, EOS])).toEqual(["a", "a", "a", "a\uFFFD"]);
  });

  it("is not shown when the answer is aborted inside it", async () => {
    const harness = new EngineHarness({ runner: scriptedRunner(byteTokens("a😀")) });
    harness.add("a", [1]);
    for (let i = 0; i < 3; i++) await harness.step();
    harness.engine.abort("a");
    expect(harness.choice("a")).toMatchObject({ text: "a", finishReason: "abort" });
  });

  it("does not mix with one of a neighbour in the same steps", async () => {
    const harness = new EngineHarness({ runner: scriptedRunner(byteTokens("😀"), byteTokens("🎈")) });
    harness.add("a", [1], { params: samplingParams({ maxTokens: 4 }) });
    harness.add("b", [1], { params: samplingParams({ maxTokens: 4 }) });
    await harness.runToEnd();
    expect([harness.choice("a").text, harness.choice("b").text]).toEqual(["😀", "🎈"]);
  });

  it("takes nothing from a prompt that ends inside one", async () => {
    const [first, ...rest] = byteTokens("é");
    expect(await stream([...rest, ...byteTokens("x")], 2, [first!])).toEqual(["\uFFFD", "\uFFFDx"]);
  });

  it("may be a byte order mark at the very start", async () => {
    expect((await stream(byteTokens("\uFEFFa"))).at(-1)).toBe("\uFEFFa");
  });
});
