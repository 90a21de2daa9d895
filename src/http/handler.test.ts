import { afterAll, beforeAll, describe, expect, it } from "vitest";

import type { JsonSchema } from "../protocol/json-schema.ts";
import type { ChatCompletion, Completion } from "../protocol/openai.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { VERSION } from "../version.ts";
import { MAX_BODY_BYTES } from "./read-json.ts";

const BASE = "http://chorus.test";
const CHAT = { messages: [{ role: "user", content: "Hello" }], max_tokens: 4, temperature: 0, ignore_eos: true };

let model: FakeModel;
beforeAll(async () => void (model = await openFakeModel({ maxNumSeqs: 2, maxQueueSize: 1, numGpuBlocks: 64 })));
afterAll(() => model.engine.dispose());

const get = (path: string, init?: RequestInit) => model.engine.fetch(BASE + path, init);
const post = (path: string, body: unknown, init?: RequestInit) =>
  get(path, { method: "POST", body: typeof body === "string" ? body : JSON.stringify(body), ...init });

/** The data of server-sent events. */
const eventsOf = (text: string) => text.split("\n\n").flatMap((event) => /^data: (.*)$/m.exec(event)?.[1] ?? []);
const numOpen = async () => {
  const stats = await model.engine.stats();
  return stats.num_requests_running + stats.num_requests_waiting;
};
const isIdle = async () => {
  const stats = await model.engine.stats();
  return stats.num_requests_running + stats.num_requests_waiting === 0 && stats.num_gpu_blocks_free === 64;
};

describe("what is there", () => {
  it("is the model, in a list and by its name", async () => {
    const list = (await (await get("/v1/models")).json()) as { object: string; data: object[] };
    expect(list).toMatchObject({
      object: "list",
      data: [{ id: "chorus-chat", root: "chorus-chat", object: "model", owned_by: "chorus", max_model_len: 512 }],
    });
    expect(await (await get("/v1/models/chorus-chat")).json()).toEqual(list.data[0]);
    expect((await get("/v1/models/gpt-5")).status).toBe(404);
  });

  it("is its version, its health and its metrics", async () => {
    expect(await (await get("/version")).json()).toEqual({ version: VERSION });
    expect((await get("/health")).status).toBe(200);
    const metrics = await get("/metrics");
    expect(metrics.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await metrics.text()).toMatch(/^vllm:num_requests_running\{model_name="chorus-chat"\} 0$/m);
  });

  it.each([
    ["GET", "/v1", 404, "path_not_found"],
    ["GET", "/v1/chat/completions", 405, "method_not_allowed"],
    ["POST", "/v1/models", 405, "method_not_allowed"],
    ["POST", "/toString", 404, "path_not_found"],
  ])("is nothing else: %s %s", async (method, path, status, code) => {
    const response = await get(path, { method });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { type: "invalid_request_error", param: null, code } });
  });
});

it("counts tokens, and makes text of them again", async () => {
  const { tokens, count, max_model_len, token_strs } = (await (
    await post("/tokenize", { model: "chorus-chat", prompt: "A zebra — ok", return_token_strs: true })
  ).json()) as { tokens: number[]; count: number; max_model_len: number; token_strs: string[] };
  expect([count, max_model_len]).toEqual([tokens.length, 512]);
  expect(token_strs).toHaveLength(count);
  expect(await (await post("/detokenize", { tokens })).json()).toEqual({ prompt: "A zebra — ok" });
  const chat = (await (await post("/tokenize", { messages: CHAT.messages })).json()) as { tokens: number[] };
  const { usage } = (await (await post("/v1/chat/completions", CHAT)).json()) as ChatCompletion;
  expect(usage.prompt_tokens).toBe(chat.tokens.length);
  expect(await (await post("/detokenize", { tokens: chat.tokens })).json()).toEqual({
    prompt: "<|user|>Hello<|assistant|>",
  });
});

it("counts the tokens of a chat with variables of its template", async () => {
  const withTools = await openFakeModel({}, null, "{{ messages[0].content }}{{ tools | tojson if tools }}");
  const body = {
    messages: [{ role: "user", content: "Hello" }],
    chat_template_kwargs: { tools: [{ name: "f" }] },
  } as const;
  const { tokens } = await withTools.engine.tokenize(body);
  expect(await withTools.engine.detokenize({ tokens })).toEqual({ prompt: 'Hello[{"name": "f"}]' });
  await withTools.engine.dispose();
});

describe("an answer", () => {
  it("is the engine's own, under an id that the headers have too", async () => {
    const response = await post("/v1/chat/completions", CHAT);
    const { id, created, ...answer } = (await response.json()) as ChatCompletion;
    const same = await model.engine.chat.completions.create({
      ...CHAT,
      messages: [{ role: "user", content: "Hello" }],
    });
    expect(answer).toEqual({ ...same, id: undefined, created: undefined });
    expect(created).toBeGreaterThan(1.7e9);
    expect(id).toBe(`chatcmpl-${response.headers.get("x-request-id")}`);
  });

  it("has the caller's own name for it", async () => {
    const headers = { "x-request-id": "mine-7" };
    expect((await post("/v1/chat/completions", CHAT, { headers })).headers.get("x-request-id")).toBe("mine-7");
    expect((await get("/nowhere", { headers })).headers.get("x-request-id")).toBe("mine-7");
  });

  it("comes in events: an answer's first chunk with its first token, and the usage with what the cache had", async () => {
    const messages = [
      {
        role: "user",
        content: "Once upon a time there was a small engine that liked to think about many other small engines.",
      },
    ];
    const body = { ...CHAT, messages, stream: true, stream_options: { include_usage: true } };
    const usages = [];
    for (let turn = 0; turn < 2; turn++) {
      const response = await post("/v1/chat/completions", body);
      expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
      const events = eventsOf(await response.text());
      expect(events.at(-1)).toBe("[DONE]");
      const chunks = events.slice(0, -1).map((event) => JSON.parse(event) as { choices: object[]; usage?: object });
      expect(chunks.at(-1)?.choices).toEqual([]);
      usages.push(chunks.at(-1)?.usage);
    }
    expect(usages).toMatchObject([
      { completion_tokens: 4, prompt_tokens_details: { cached_tokens: 0 } },
      { completion_tokens: 4, prompt_tokens_details: { cached_tokens: 16 } },
    ]);
  });

  it("waits for its first token before it says anything", async () => {
    model.pause();
    const requested = post("/v1/chat/completions", { ...CHAT, stream: true });
    let isAnswered = false;
    void requested.then(() => (isAnswered = true));
    await expect.poll(numOpen).toBe(1);
    expect(isAnswered).toBe(false);
    model.resume();
    expect((await requested).status).toBe(200);
    await (await requested).text();
  });

  it("of vllm bench serve's body is what it counts: a chunk a token", async () => {
    const response = await post("/v1/completions", {
      model: "chorus-chat",
      prompt: "Hello",
      repetition_penalty: 1,
      max_tokens: 6,
      logprobs: null,
      stream: true,
      stream_options: { include_usage: true },
      ignore_eos: true,
      temperature: 0,
    });
    const chunks = eventsOf(await response.text()).flatMap((event) =>
      event === "[DONE]" ? [] : (JSON.parse(event) as Completion),
    );
    expect(chunks.filter(({ choices }) => choices.length > 0).length).toBeLessThanOrEqual(6);
    expect(chunks.at(-1)).toMatchObject({ choices: [], usage: { completion_tokens: 6 } });
  });
});

describe("what is wrong", () => {
  it.each([
    ["no JSON", "{", 400, "invalid_json", null],
    ["no object", [], 400, "invalid_type", null],
    ["null", "null", 400, "invalid_type", null],
    ["no messages", {}, 400, "missing_required_parameter", "messages"],
    ["an unknown field", { ...CHAT, temprature: 1 }, 400, "unknown_parameter", "temprature"],
    ["what is not supported", { ...CHAT, audio: { voice: "x" } }, 400, "unsupported_parameter", "audio"],
    ["a value out of range", { ...CHAT, temperature: -1 }, 400, "invalid_value", "temperature"],
    ["another model", { ...CHAT, model: "gpt-5" }, 404, "model_not_found", "model"],
    [
      "too long a prompt",
      { messages: [{ role: "user", content: "a ".repeat(999) }] },
      400,
      "context_length_exceeded",
      "messages",
    ],
  ])("has its status and OpenAI's body: %s", async (_, body, status, code, param) => {
    const response = await post("/v1/chat/completions", body);
    expect(response.status).toBe(status);
    expect(await response.json()).toEqual({
      error: {
        message: expect.stringMatching(/[.?]$|^The request body is not valid JSON/),
        type: "invalid_request_error",
        param,
        code,
      },
    });
    const streamed = await post("/v1/chat/completions", typeof body === "object" ? { ...body, stream: true } : body);
    expect(streamed.status).toBe(status);
  });

  it.each([
    ["/v1/chat/completions", { messages: [{ role: "user", content: "DEEP" }] }],
    ["/v1/chat/completions", { ...CHAT, chat_template_kwargs: { x: "DEEP" } }],
    ["/v1/chat/completions", { ...CHAT, tools: "DEEP" }],
    ["/v1/completions", { prompt: "x", structured_outputs: { json: "DEEP" } }],
    ["/v1/responses", { input: "DEEP" }],
    ["/tokenize", { prompt: "DEEP" }],
    ["/detokenize", { tokens: "DEEP" }],
    ["/v1/completions", "DEEP"],
  ])("at %s is what is nested 100,000 levels deep, or has more than 100,000 keys or lists: %j", async (path, body) => {
    const [before = "", after = ""] = JSON.stringify(body).split('"DEEP"');
    const lists = "[".repeat(100_000) + "]".repeat(100_000);
    const keys = `{${Array.from({ length: 100_001 }, (_, i) => `"${i.toString(36)}":1`).join(",")}}`;
    for (const [odd, reason] of [
      [lists, "nested more than 128 levels deep"],
      [keys, "more than 100000 keys, lists and objects"],
      [`[${"[],".repeat(100_001)}{}]`, "more than 100000 keys, lists and objects"],
    ] as const) {
      const response = await post(path, before + odd + after);
      expect(response.status).toBe(400);
      const { error } = (await response.json()) as { error: { code: string; message: string } };
      expect(error).toMatchObject({ code: "invalid_json", message: expect.stringContaining(reason) });
    }
  });

  it("has a code and a field where the library itself is asked with what is too deep", async () => {
    const deep = JSON.parse('{"type":"array","items":'.repeat(2500) + "{}" + "}".repeat(2500)) as JsonSchema;
    const { chat, completions } = model.engine;
    const refused = (param: string) => ({ code: "invalid_value", param });
    const text = JSON.stringify(deep);
    for (const [json, param] of [
      [deep, "structured_outputs"],
      [text, "structured_outputs.json"],
    ] as const) {
      const requested = completions.create({ prompt: "x", structured_outputs: { json } });
      await expect(requested).rejects.toMatchObject(refused(param));
    }
    const body = { messages: [{ role: "user" as const, content: "x" }], chat_template_kwargs: { deep } };
    await expect(chat.completions.create(body)).rejects.toMatchObject(refused("chat_template_kwargs"));
    await expect(chat.render(body)).rejects.toMatchObject(refused("chat_template_kwargs"));
  });

  it("is refused unread where it is too long", async () => {
    const body = `{"prompt": "${"a".repeat(MAX_BODY_BYTES)}"}`;
    expect((await post("/v1/completions", body)).status).toBe(413);
    let pulled = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull(controller) {
        pulled += 2 ** 20;
        controller.enqueue(new Uint8Array(2 ** 20));
      },
    });
    const request = new Request(`${BASE}/v1/completions`, {
      method: "POST",
      body: endless,
      duplex: "half",
    } as RequestInit);
    expect((await model.engine.fetch(request)).status).toBe(413);
    expect(pulled).toBeLessThan(MAX_BODY_BYTES + 4 * 2 ** 20);
  });

  it("is a full queue's for a while", async () => {
    model.pause();
    const requested = Array.from({ length: 3 }, () => post("/v1/chat/completions", CHAT));
    await expect.poll(numOpen).toBe(3);
    const refused = await post("/v1/chat/completions", CHAT);
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    expect(await refused.json()).toMatchObject({ error: { type: "rate_limit_error", code: "queue_full" } });
    model.resume();
    expect((await Promise.all(requested)).map(({ status }) => status)).toEqual([200, 200, 200]);
  });

  it("can come in the middle of a stream", async () => {
    const own = await openFakeModel();
    const response = await own.engine.fetch(`${BASE}/v1/chat/completions`, {
      method: "POST",
      body: JSON.stringify({ ...CHAT, max_tokens: 200, stream: true }),
    });
    await own.engine.dispose();
    const events = eventsOf(await response.text());
    expect(events.at(-1)).toBe("[DONE]");
    expect(JSON.parse(events.at(-2) ?? "")).toMatchObject({ error: { type: "server_error", code: "engine_disposed" } });
    const gone = await own.engine.fetch(`${BASE}/health`);
    expect([gone.status, await gone.json()]).toMatchObject([503, { error: { code: "engine_disposed" } }]);
  });
});

describe("a reader that leaves", () => {
  const long = { ...CHAT, max_tokens: 200, stream: true };

  it("ends its request, by leaving the body or by its signal, before and after the first token", async () => {
    const response = await post("/v1/chat/completions", long);
    await response.body?.cancel();
    await expect.poll(isIdle).toBe(true);

    const controller = new AbortController();
    const { body } = await post("/v1/chat/completions", long, { signal: controller.signal });
    const reader = body!.getReader();
    await reader.read();
    controller.abort(new Error("enough"));
    const rest = async () => {
      while (!(await reader.read()).done);
    };
    await expect(rest()).rejects.toThrow("enough");
    await expect.poll(isIdle).toBe(true);

    model.pause();
    const early = new AbortController();
    const requested = [
      post("/v1/chat/completions", long, { signal: early.signal }),
      post("/v1/chat/completions", CHAT, { signal: early.signal }),
    ];
    await expect.poll(numOpen).toBe(2);
    early.abort(new Error("no longer"));
    for (const one of requested) await expect(one).rejects.toThrow("no longer");
    model.resume();
    await expect.poll(isIdle).toBe(true);
    await expect(get("/v1/models", { signal: AbortSignal.abort(new Error("never")) })).rejects.toThrow("never");
  });
});
