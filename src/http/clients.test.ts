// Other people's clients, unmodified, against the handler: given as their `fetch`, and through a real port.

import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { ChatOpenAI } from "@langchain/openai";
import { generateText, jsonSchema, Output, streamText } from "ai";
import OpenAI, { APIUserAbortError, BadRequestError, NotFoundError, RateLimitError } from "openai";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

import { NodeServer } from "../server/node-server.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";

/** Long enough to fill a block of the prefix cache. */
const QUESTION = "Once upon a time there was a small engine that liked to think about many other small engines.";
const messages = [{ role: "user" as const, content: QUESTION }];
const SCHEMA = {
  type: "object" as const,
  properties: { mood: { type: "string" as const, enum: ["glad", "sad"] }, certain: { type: "boolean" as const } },
  required: ["mood", "certain"],
  additionalProperties: false,
};

let model: FakeModel;
let server: NodeServer;
beforeAll(async () => {
  model = await openFakeModel({ maxNumSeqs: 2, maxQueueSize: 1, numGpuBlocks: 64 });
  server = await NodeServer.listen((request) => model.engine.fetch(request), { host: "127.0.0.1", port: 0 });
});
afterAll(async () => {
  await server.close();
  await model.engine.dispose();
});

const isIdle = async () => {
  const stats = await model.engine.stats();
  return stats.num_requests_running + stats.num_requests_waiting === 0 && stats.num_gpu_blocks_free === 64;
};
/** Requests that the engine has and has not ended. */
const numOpen = async () => {
  const stats = await model.engine.stats();
  return stats.num_requests_running + stats.num_requests_waiting;
};

/** The engine's own answer. */
async function expected(maxTokens: number): Promise<string> {
  const options = { max_tokens: maxTokens, temperature: 0, ignore_eos: true };
  const { choices } = await model.engine.chat.completions.create({ messages, ...options });
  return choices[0]?.message.content ?? "";
}

describe.each(["as fetch", "through a port"] as const)("%s,", (way) => {
  const reached = () =>
    way === "as fetch"
      ? { baseURL: "http://chorus.test/v1", fetch: model.engine.fetch }
      : { baseURL: `${server.url}/v1` };

  describe("openai", () => {
    const client = () => new OpenAI({ apiKey: "none", maxRetries: 0, ...reached() });
    const GREEDY = { model: "chorus-chat", temperature: 0, max_tokens: 12, ignore_eos: true };

    it("lists the models", async () => {
      const names = [];
      for await (const { id } of client().models.list()) names.push(id);
      expect(names).toEqual(["chorus-chat"]);
      expect(await client().models.retrieve("chorus-chat")).toMatchObject({ object: "model" });
    });

    it("chats, whole and streamed, with what its cache had", async () => {
      const whole = await client().chat.completions.create({ ...GREEDY, messages });
      expect(whole.choices[0]?.message.content).toBe(await expected(12));
      expect((whole as { _request_id?: string })["_request_id"]).toBe(whole.id.replace("chatcmpl-", ""));
      const stream = client().chat.completions.stream({ ...GREEDY, messages, stream_options: { include_usage: true } });
      const pieces: string[] = [];
      stream.on("content", (delta) => pieces.push(delta));
      const final = await stream.finalChatCompletion();
      expect(pieces.join("")).toBe(whole.choices[0]?.message.content);
      expect(final.choices[0]?.message.content).toBe(pieces.join(""));
      expect(final.usage).toMatchObject({ completion_tokens: 12, prompt_tokens_details: { cached_tokens: 16 } });
    });

    it("reads its own answers, parts of text and developer messages", async () => {
      const first = await client().chat.completions.create({ ...GREEDY, messages });
      const answer = await client().chat.completions.create({
        ...GREEDY,
        messages: [
          { role: "developer", content: "Be brief." },
          { role: "user", content: [{ type: "text", text: "Hello" }] },
          first.choices[0]!.message,
          { role: "user", content: "And now?" },
        ],
      });
      expect(answer.choices[0]?.finish_reason).toBe("length");
    });

    it("completes several prompts", async () => {
      const { choices } = await client().completions.create({ ...GREEDY, prompt: ["One", "Two"], logprobs: 1 });
      expect(choices.map(({ index }) => index)).toEqual([0, 1]);
      expect(choices[1]?.logprobs?.token_logprobs).toHaveLength(12);
    });

    it("holds an answer to a schema", async () => {
      const { choices } = await client().chat.completions.create({
        model: "chorus-chat",
        messages,
        response_format: { type: "json_schema", json_schema: { name: "mood", schema: SCHEMA, strict: true } },
      });
      expect(["glad", "sad"]).toContain((JSON.parse(choices[0]?.message.content ?? "") as { mood: string }).mood);
    });

    it("aborts in the middle and before the beginning", async () => {
      const long = { ...GREEDY, messages, max_tokens: 300, stream: true } as const;
      const stream = await client().chat.completions.create(long);
      for await (const _ of stream) break;
      await expect.poll(isIdle).toBe(true);

      model.pause();
      const controller = new AbortController();
      const requested = client().chat.completions.create(long, { signal: controller.signal });
      await expect.poll(numOpen).toBe(1);
      controller.abort();
      await expect(requested).rejects.toBeInstanceOf(APIUserAbortError);
      model.resume();
      await expect.poll(isIdle).toBe(true);
    });

    it("throws its own errors", async () => {
      const { completions } = client().chat;
      await expect(completions.create({ ...GREEDY, messages: [] })).rejects.toBeInstanceOf(BadRequestError);
      const unknown = completions.create({ ...GREEDY, model: "gpt-5", messages });
      await expect(unknown).rejects.toMatchObject({ status: 404, code: "model_not_found", param: "model" });
      await expect(unknown).rejects.toBeInstanceOf(NotFoundError);
      model.pause();
      const requested = [1, 2, 3].map(() => completions.create({ ...GREEDY, messages }));
      await expect.poll(numOpen).toBe(3);
      await expect(completions.create({ ...GREEDY, messages })).rejects.toBeInstanceOf(RateLimitError);
      model.resume();
      await Promise.all(requested);
    });

    it("tries again where the queue was full", async () => {
      model.pause();
      const { completions } = client().chat;
      const requested = [1, 2, 3].map(() => completions.create({ ...GREEDY, messages }));
      await expect.poll(numOpen).toBe(3);
      let numRefused = 0;
      const counting = async (...call: Parameters<typeof fetch>) => {
        const response = await (reached().fetch ?? fetch)(...call);
        numRefused += Number(response.status === 429);
        return response;
      };
      const patient = new OpenAI({ apiKey: "none", ...reached(), fetch: counting });
      const retried = patient.chat.completions.create({ ...GREEDY, messages });
      await expect.poll(() => numRefused).toBe(1);
      model.resume();
      await Promise.all(requested);
      expect((await retried).usage?.completion_tokens).toBe(12);
    });

    it("speaks the responses' API, whole and streamed", async () => {
      const body = { model: "chorus-chat", instructions: "Be brief.", input: QUESTION, temperature: 0 };
      const whole = await client().responses.create({ ...body, max_output_tokens: 12 });
      expect(whole.output_text).not.toBe("");
      expect(whole).toMatchObject({
        object: "response",
        status: "incomplete",
        store: false,
        instructions: "Be brief.",
      });
      expect(whole.incomplete_details).toEqual({ reason: "max_output_tokens" });
      expect(whole.usage).toMatchObject({ output_tokens: 12, output_tokens_details: { reasoning_tokens: 0 } });

      const stream = client().responses.stream({ ...body, max_output_tokens: 12 });
      const types: string[] = [];
      const numbers: number[] = [];
      let text = "";
      stream.on("event", (event) => {
        types.push(event.type);
        numbers.push(event.sequence_number);
        if (event.type === "response.output_text.delta") text += event.delta;
      });
      const final = await stream.finalResponse();
      expect(text).toBe(whole.output_text);
      expect(final.output_text).toBe(whole.output_text);
      expect(numbers).toEqual(numbers.map((_, i) => i));
      expect(types.filter((type) => type !== "response.output_text.delta")).toEqual([
        "response.created",
        "response.in_progress",
        "response.output_item.added",
        "response.content_part.added",
        "response.output_text.done",
        "response.content_part.done",
        "response.output_item.done",
        "response.incomplete",
      ]);
      const next = await client().responses.create({
        model: "chorus-chat",
        input: [
          { role: "user", content: [{ type: "input_text", text: QUESTION }] },
          ...whole.output,
          { role: "user", content: "A mood?" },
        ] as OpenAI.Responses.ResponseInput,
        text: { format: { type: "json_schema", name: "mood", schema: SCHEMA } },
      });
      expect(next.status).toBe("completed");
      expect(JSON.parse(next.output_text)).toHaveProperty("certain");
    });

    it.each([
      [{ input: QUESTION, background: true }, "unsupported_parameter", "background"],
      [{ input: QUESTION, previous_response_id: "resp_1" }, "unsupported_parameter", "previous_response_id"],
      [{ input: [{ role: "user", content: [{ type: "input_image" }] }] }, "invalid_value", "input[0].content[0].type"],
      [{ input: [] }, "invalid_value", "input"],
      [{ input: "a ".repeat(999) }, "context_length_exceeded", "input"],
      [{}, "missing_required_parameter", "input"],
      [{ input: QUESTION, n: 2 }, "unknown_parameter", "n"],
      [{ input: QUESTION, temperature: 9 }, "invalid_value", "temperature"],
      [
        { input: QUESTION, text: { format: { type: "json_schema", name: "a", schema: { type: "soup" } } } },
        "invalid_value",
        "text.format.schema.type",
      ],
    ])("is told which field a response can't have: %j", async (body, code, param) => {
      const requested = client().responses.create(body as OpenAI.Responses.ResponseCreateParamsNonStreaming);
      await expect(requested).rejects.toMatchObject({ status: 400, code, param });
    });
  });

  describe("the AI SDK", () => {
    const chat = () =>
      createOpenAICompatible({
        name: "chorus",
        includeUsage: true,
        supportsStructuredOutputs: true,
        ...reached(),
      }).chatModel("chorus-chat");
    const options = { maxOutputTokens: 12, temperature: 0, maxRetries: 0 };

    it("streams text, with usage and what the cache had", async () => {
      await expected(12);
      const { textStream, usage, finishReason } = streamText({ model: chat(), messages, ...options });
      const pieces = [];
      for await (const piece of textStream) pieces.push(piece);
      expect(pieces.join("")).toBe(await expected(12));
      expect(await finishReason).toBe("length");
      expect(await usage).toMatchObject({ outputTokens: 12, inputTokenDetails: { cacheReadTokens: 16 } });
    });

    it("makes objects of a schema", async () => {
      const { output } = await generateText({
        model: chat(),
        messages,
        maxRetries: 0,
        output: Output.object({ schema: jsonSchema<{ mood: string; certain: boolean }>(SCHEMA) }),
      });
      expect(["glad", "sad"]).toContain(output.mood);
    });

    it("aborts", async () => {
      const controller = new AbortController();
      const result = streamText({
        model: chat(),
        messages,
        ...options,
        maxOutputTokens: 300,
        abortSignal: controller.signal,
      });
      const types = [];
      for await (const { type } of result.fullStream) {
        types.push(type);
        if (type === "text-delta") controller.abort();
      }
      expect(types).toContain("abort");
      await expect.poll(isIdle).toBe(true);
    });

    it("throws what is wrong", async () => {
      const requested = generateText({ model: chat(), messages, ...options, temperature: 9 });
      await expect(requested).rejects.toMatchObject({ name: "AI_APICallError", statusCode: 400, isRetryable: false });
    });
  });

  describe("LangChain's ChatOpenAI", () => {
    const chat = (maxTokens = 12) =>
      new ChatOpenAI({
        model: "chorus-chat",
        apiKey: "none",
        temperature: 0,
        maxTokens,
        maxRetries: 0,
        configuration: reached(),
      });

    it("invokes and streams", async () => {
      const { content, usage_metadata } = await chat().invoke(QUESTION);
      expect(content).toBe(await expected(12));
      expect(usage_metadata).toMatchObject({ output_tokens: 12, input_token_details: { cache_read: 16 } });
      const pieces = [];
      for await (const chunk of await chat().stream(QUESTION)) pieces.push(chunk.text);
      expect(pieces.join("")).toBe(content);
    });

    it("answers many at once", async () => {
      const answers = await chat().batch([[["user", "One"]], [["user", "Two"]]]);
      expect(answers.map(({ content }) => content !== "")).toEqual([true, true]);
    });

    it("makes objects of a schema", async () => {
      const structured = chat(200).withStructuredOutput(SCHEMA, { method: "jsonSchema", name: "mood" });
      expect(await structured.invoke(QUESTION)).toHaveProperty("mood");
    });
  });
});
