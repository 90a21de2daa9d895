import { generateText, jsonSchema, Output, streamText } from "ai";
import { afterAll, beforeAll, expect, it } from "vitest";

import type { LoadProgress } from "../protocol/reports.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { ChorusLanguageModel } from "./ai-sdk.ts";

const QUESTION = "Once upon a time there was a small engine that liked to think about many other small engines.";
const options = { prompt: QUESTION, temperature: 0, maxOutputTokens: 12, maxRetries: 0 };

let fake: FakeModel;
beforeAll(async () => void (fake = await openFakeModel({ numGpuBlocks: 64 })));
afterAll(() => fake.engine.dispose());

const isIdle = async () => (await fake.engine.stats()).num_gpu_blocks_free === 64;

it("generates and streams what the engine answers, with what the cache had", async () => {
  const model = new ChorusLanguageModel(fake.engine);
  const whole = await generateText({ ...options, model });
  const streamed = streamText({ ...options, model });
  const pieces = [];
  for await (const piece of streamed.textStream) pieces.push(piece);
  const { choices } = await fake.engine.chat.completions.create({
    messages: [{ role: "user", content: QUESTION }],
    temperature: 0,
    max_tokens: 12,
  });
  expect(whole.text).toBe(choices[0]?.message.content);
  expect(pieces.join("")).toBe(whole.text);
  expect(pieces.length).toBeGreaterThan(1);
  expect(await streamed.usage).toMatchObject({ outputTokens: 12, inputTokenDetails: { cacheReadTokens: 16 } });
  expect([whole.finishReason, await streamed.finishReason]).toEqual(["length", "length"]);
  expect((await streamed.response).modelId).toBe("chorus-chat");
});

it("passes on the engine's own fields, and warns of what it can't do", async () => {
  const model = new ChorusLanguageModel(fake.engine);
  const result = await generateText({
    ...options,
    model,
    tools: { look: { description: "Looks.", inputSchema: jsonSchema({ type: "object" }) } },
    providerOptions: { chorus: { ignore_eos: true, stop_token_ids: [7] } },
  });
  expect(result.warnings).toMatchObject([{ type: "unsupported", feature: "tools" }]);
  const refused = generateText({ ...options, model, providerOptions: { chorus: { temprature: 1 } } });
  await expect(refused).rejects.toMatchObject({ code: "unknown_parameter" });
});

it("makes objects of a schema", async () => {
  const schema = jsonSchema<{ mood: string }>({
    type: "object",
    properties: { mood: { type: "string", enum: ["glad", "sad"] } },
    required: ["mood"],
    additionalProperties: false,
  });
  const model = new ChorusLanguageModel(fake.engine);
  const { output } = await generateText({ model, prompt: QUESTION, output: Output.object({ schema }) });
  expect(["glad", "sad"]).toContain(output.mood);
});

it("aborts its request", async () => {
  const controller = new AbortController();
  const model = new ChorusLanguageModel(fake.engine);
  const result = streamText({ ...options, model, maxOutputTokens: 300, abortSignal: controller.signal });
  for await (const { type } of result.fullStream) if (type === "text-delta") controller.abort();
  await expect.poll(isIdle).toBe(true);
});

it("refuses what is no text", async () => {
  const model = new ChorusLanguageModel(fake.engine);
  const content = [{ type: "file", mediaType: "image/png", data: new Uint8Array(4) }] as const;
  const asked = generateText({ model, messages: [{ role: "user", content: [...content] }], maxRetries: 0 });
  await expect(asked).rejects.toMatchObject({ code: "unsupported_parameter" });
});

it("loads with the first call, once, and says how far it is", async () => {
  let attempts = 0;
  const model = new ChorusLanguageModel(async (onProgress) => {
    attempts += 1;
    onProgress({ stage: "weights", done: 1, total: 2 });
    if (attempts === 1) throw new Error("offline");
    return fake.engine;
  });
  expect(await model.availability()).toBe("downloadable");
  await expect(model.createSessionWithProgress()).rejects.toThrow("offline");
  expect(await model.availability()).toBe("downloadable");
  const progress: LoadProgress[] = [];
  const loading = model.createSessionWithProgress((one) => progress.push(one));
  expect(await model.availability()).toBe("downloading");
  await Promise.all([loading, generateText({ ...options, model })]);
  expect(await model.availability()).toBe("available");
  expect([attempts, progress]).toEqual([2, [{ stage: "weights", done: 1, total: 2 }]]);
});
