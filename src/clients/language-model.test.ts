import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { installLanguageModel, languageModelApi, type LanguageModelApi } from "./language-model.ts";

const GREEDY = { samplingMode: "most-predictable" } as const;
/** The fake model's answers rarely end by themselves. */
const BRIEF = { responseConstraint: /[a-z]{8}/ };

let fake: FakeModel;
let api: LanguageModelApi;
beforeAll(async () => {
  fake = await openFakeModel({ numGpuBlocks: 256 });
  api = languageModelApi(fake.engine);
});
afterAll(() => fake.engine.dispose());

const stats = () => fake.engine.stats();
const isIdle = async () => (await stats()).num_gpu_blocks_free === 256;

describe("a session", () => {
  it("goes on from what was said, as the engine would", async () => {
    const session = await api.create({ ...GREEDY, initialPrompts: [{ role: "user", content: "I like tea." }] });
    const first = await session.prompt("Hello", BRIEF);
    const second = await session.prompt([{ role: "user", content: [{ type: "text", value: "And now?" }] }], BRIEF);
    const { choices, usage } = await fake.engine.chat.completions.create({
      messages: [
        { role: "user", content: "I like tea." },
        { role: "user", content: "Hello" },
        { role: "assistant", content: first },
        { role: "user", content: "And now?" },
      ],
      temperature: 0,
      structured_outputs: { regex: "[a-z]{8}" },
    });
    expect(second).toBe(choices[0]?.message.content);
    expect(second).toMatch(/^[a-z]{8}$/);
    expect(session.contextUsage).toBe(usage.total_tokens);
    expect(session.contextWindow).toBe(512);
  });

  it("streams, and answers in turn", async () => {
    const session = await api.create(GREEDY);
    const order: string[] = [];
    const read = async () => {
      let text = "";
      for await (const piece of session.promptStreaming("Hello", BRIEF)) text += piece;
      order.push("streamed");
      return text;
    };
    const [streamed, next] = await Promise.all([read(), session.prompt("Next", BRIEF).then(() => order.push("next"))]);
    expect(streamed).toMatch(/^[a-z]{8}$/);
    expect([next, order]).toEqual([2, ["streamed", "next"]]);
  });

  it("goes on with a prefix, and afterwards from all of it", async () => {
    const session = await api.create(GREEDY);
    const rest = await session.prompt(
      [
        { role: "user", content: "Say it" },
        { role: "assistant", content: "It is ", prefix: true },
      ],
      BRIEF,
    );
    expect(await session.measureContextUsage("")).toBeGreaterThan(0);
    const { choices } = await fake.engine.chat.completions.create({
      messages: [
        { role: "user", content: "Say it" },
        { role: "assistant", content: "It is " },
      ],
      continue_final_message: true,
      temperature: 0,
      structured_outputs: { regex: "[a-z]{8}" },
    });
    expect(rest).toBe(choices[0]?.message.content);
    const next = await session.prompt("And now?", BRIEF);
    const { choices: following } = await fake.engine.chat.completions.create({
      messages: [
        { role: "user", content: "Say it" },
        { role: "assistant", content: `It is ${rest}` },
        { role: "user", content: "And now?" },
      ],
      temperature: 0,
      structured_outputs: { regex: "[a-z]{8}" },
    });
    expect(next).toBe(following[0]?.message.content);
  });

  it("forks, and the forks share blocks and run side by side", async () => {
    const session = await api.create(GREEDY);
    await session.append("A long beginning that many will share, told once and computed once. ".repeat(6));
    const before = await stats();
    const forks = await Promise.all([session.clone(), session.clone(), session.clone()]);
    fake.pause();
    const answers = forks.map((fork, i) => fork.prompt(`Question ${i}`, BRIEF));
    // The others wait while the first one's step is held.
    const open = async () => (await stats()).num_requests_running + (await stats()).num_requests_waiting;
    await expect.poll(open).toBe(3);
    fake.resume();
    const texts = await Promise.all(answers);
    expect(new Set(texts).size).toBe(3);
    const after = await stats();
    expect(after.prefix_cache_hits - before.prefix_cache_hits).toBeGreaterThanOrEqual(3 * 16);
    const numSteps = after.engine_steps_total - before.engine_steps_total;
    expect((after.step_sequences_total - before.step_sequences_total) / numSteps).toBeGreaterThan(1.5);
    expect(after.device_losses_total).toBe(0);
    expect(session.contextUsage).toBeLessThan(forks[0].contextUsage);
  });

  it("says what an input would take", async () => {
    const session = await api.create({ initialPrompts: [{ role: "user", content: "Hello" }] });
    const { count } = await fake.engine.tokenize({ messages: [{ role: "user", content: "Hello" }] });
    const both = await fake.engine.tokenize({
      messages: [
        { role: "user", content: "Hello" },
        { role: "user", content: "One two three" },
      ],
    });
    expect(session.contextUsage).toBe(count);
    expect(await session.measureContextUsage("One two three")).toBe(both.count - count);
  });

  it("drops its oldest turns where the next does not fit, and says so; what never fits is refused", async () => {
    const session = await api.create(GREEDY);
    let overflows = 0;
    session.oncontextoverflow = () => (overflows += 1);
    await session.prompt("One two three four five six seven. ".repeat(38), BRIEF);
    await session.prompt("Hello", BRIEF);
    expect(overflows).toBe(0);
    const usage = session.contextUsage;
    await session.prompt("One two three four five six seven. ".repeat(38), BRIEF);
    expect(overflows).toBe(1);
    expect(session.contextUsage).toBeLessThan(2 * usage);
    const tooLong = session.prompt("One two three four five six seven. ".repeat(99), BRIEF);
    await expect(tooLong).rejects.toMatchObject({ name: "QuotaExceededError" });
    expect(await session.prompt("Still there?", BRIEF)).toMatch(/^[a-z]{8}$/);
  });

  it("drops its oldest turns where the prompt alone would fill the context", async () => {
    const session = await api.create(GREEDY);
    let overflows = 0;
    session.oncontextoverflow = () => (overflows += 1);
    const answer = await session.prompt("Hello", BRIEF);
    const promptTokens = async (content: string) => {
      const before = [{ role: "user", content: "Hello" } as const, { role: "assistant", content: answer } as const];
      return (await fake.engine.tokenize({ messages: [...before, { role: "user", content }] })).count;
    };
    const room = session.contextWindow - (await promptTokens(""));
    const question = "z!".repeat(room / 2);
    expect(await promptTokens(question)).toBe(session.contextWindow);
    expect(await session.prompt(question, BRIEF)).toMatch(/^[a-z]{8}$/);
    expect(overflows).toBe(1);
  });

  it("ends what it is asked when it is aborted or destroyed, and forgets the question", async () => {
    const session = await api.create(GREEDY);
    const controller = new AbortController();
    const requested = session.prompt("Hello", { signal: controller.signal });
    fake.pause();
    await expect.poll(async () => (await stats()).num_requests_running).toBe(1);
    controller.abort(new Error("enough"));
    await expect(requested).rejects.toThrow("enough");
    fake.resume();
    await expect.poll(isIdle).toBe(true);
    expect(session.contextUsage).toBe(0);

    const reader = session.promptStreaming("Hello").getReader();
    await reader.read();
    await reader.cancel();
    await expect.poll(isIdle).toBe(true);
    session.destroy();
    await expect(session.prompt("Hello")).rejects.toMatchObject({ name: "AbortError" });
    await expect(session.clone()).rejects.toMatchObject({ name: "AbortError" });
  });
});

describe("the interface", () => {
  it.each([
    [{ expectedInputs: [{ type: "image" }] }, "NotSupportedError"],
    [{ tools: [{}] }, "NotSupportedError"],
    [{ samplingMode: "wild" }, "TypeError"],
    [{ temperature: 1 }, "TypeError"],
    [{ temperature: 1, topK: 2, samplingMode: "creative" }, "TypeError"],
    [{ initialPrompts: [{ role: "user", content: [{ type: "audio", value: null }] }] }, "NotSupportedError"],
  ])("refuses what it can't do: %j", async (options, name) => {
    await expect(api.create(options as object)).rejects.toMatchObject({ name });
  });

  it("tells whether it can be had, and how far it is; a failed load is tried again", async () => {
    let attempts = 0;
    const lazy = languageModelApi(async (onProgress) => {
      onProgress({ stage: "weights", done: 1, total: 4 });
      if (++attempts === 1) throw new Error("offline");
      return fake.engine;
    });
    expect(await lazy.availability()).toBe("downloadable");
    const failing = lazy.create();
    expect(await lazy.availability()).toBe("downloading");
    await expect(failing).rejects.toThrow("offline");
    expect(await lazy.availability()).toBe("downloadable");
    expect(await lazy.availability({ expectedInputs: [{ type: "image" }] })).toBe("unavailable");
    const loaded: number[] = [];
    await lazy.create({
      monitor: (monitor) =>
        monitor.addEventListener("downloadprogress", (event) => loaded.push((event as ProgressEvent).loaded)),
    });
    expect(loaded).toEqual([0.25, 1]);
    expect(await lazy.availability()).toBe("available");
  });
});

describe("installed as the page's own", () => {
  const global = globalThis as { LanguageModel?: unknown };
  afterEach(() => delete global.LanguageModel);

  it("stands in for the browser's until it is undone", async () => {
    const own = {};
    global.LanguageModel = own;
    const undo = installLanguageModel(fake.engine);
    const installed: unknown = global.LanguageModel;
    expect(await (await (installed as LanguageModelApi).create(GREEDY)).prompt("Hello", BRIEF)).toMatch(/^[a-z]{8}$/);
    undo();
    expect(global.LanguageModel).toBe(own);
    delete global.LanguageModel;
    installLanguageModel(fake.engine)();
    expect("LanguageModel" in globalThis).toBe(false);
  });
});
