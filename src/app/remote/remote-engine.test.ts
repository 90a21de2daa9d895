import { afterEach, describe, expect, it, vi } from "vitest";

import type { ChorusError } from "../../protocol/errors.ts";
import type { ChatCompletionRequest } from "../../protocol/openai.ts";
import { NodeServer } from "../../server/node-server.ts";
import { createHandler } from "../../http/handler.ts";
import { openFakeModel } from "../../../tests/fakes/fake-model.ts";
import {
  answerJson,
  answerText,
  inTurn,
  playBack,
  ScriptedServer,
  type Script,
} from "../../../tests/remote/scripted-server.ts";
import { TOLD, TRANSCRIPTS } from "../../../tests/remote/transcripts.ts";
import { RemoteEngine, type RemoteEngineOptions } from "./remote-engine.ts";

/** Longer than any test: what waits for it never ends. */
const FOREVER_MS = 3_600_000;
const QUICK = { silenceMs: FOREVER_MS, retryDelaysMs: [1, 1] };
const ASKED: ChatCompletionRequest = { messages: [{ role: "user", content: "Hello" }] };

let server: ScriptedServer;
afterEach(() => server?.stop());

async function open(script: Script, options: Partial<RemoteEngineOptions> = {}): Promise<RemoteEngine> {
  server = await ScriptedServer.start(script);
  return new RemoteEngine({ baseUrl: server.baseUrl, model: "m", key: null, patience: QUICK, ...options });
}

/** @param onText called with the text so far */
async function ask(
  engine: RemoteEngine,
  body: Partial<ChatCompletionRequest> = {},
  signal?: AbortSignal,
  onText: (text: string) => void = () => undefined,
) {
  let text = "";
  let reasoning = "";
  let finish: string | null = null;
  const said = () => ({ text, reasoning, finish });
  const result = (async () => {
    const request = { ...ASKED, ...body, stream: true } as const;
    for await (const { choices } of await engine.chat.completions.create(request, signal ? { signal } : {})) {
      text += choices[0]?.delta.content ?? "";
      reasoning += choices[0]?.delta.reasoning_content ?? "";
      finish = choices[0]?.finish_reason ?? finish;
      onText(text);
    }
    return said();
  })();
  return result.catch((error: unknown) => ({ ...said(), error }));
}

const STREAM = TRANSCRIPTS["vllm"]?.chat ?? "";
const BROKEN = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: "Grüße, 世界" } }] })}\n\n`;
const REST = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: " 👋!" }, finish_reason: "stop" }] })}\n\n`;

describe.each(Object.entries(TRANSCRIPTS))("what %s sends", (_, { ownedBy, chat, reasoning, numTokens, broken }) => {
  it.each([5, 16, Infinity])("is read in pieces of %d bytes", async (pieceBytes) => {
    const counts: number[] = [];
    const observer = {
      sent() {},
      retrying() {},
      ended() {},
      received: (__: string, count: number) => void counts.push(count),
    };
    const engine = await open(playBack(chat, pieceBytes), { ownedBy, observer });
    expect(await ask(engine)).toEqual({ text: TOLD, reasoning, finish: "stop" });
    expect(counts.at(-1)).toBe(numTokens);
    expect(counts).toEqual([...counts].sort((a, b) => a - b));
  });

  it("fails in mid-answer with what the server says, and the text so far", async () => {
    const engine = await open(playBack(broken), { ownedBy: null });
    const { text, error } = (await ask(engine)) as { text: string; error: ChorusError };
    expect(text).toBe("Grüße");
    expect(error).toMatchObject({ code: "server_failed" });
    expect(error.message).toMatch(/issue|aborted|decode|terminated|no more/);
  });
});

describe("a request", () => {
  const fields = {
    temperature: 0.5,
    top_k: 7,
    min_p: 0.1,
    repetition_penalty: 1.2,
    max_tokens: 9,
    request_id: "pane-1",
    seed: null,
  };
  it.each([
    ["vllm", { top_k: 7, min_p: 0.1, repetition_penalty: 1.2, max_tokens: 9 }],
    ["llamacpp", { top_k: 7, min_p: 0.1, repeat_penalty: 1.2, max_tokens: 9 }],
    ["library", { max_tokens: 9 }],
    ["openai", { max_completion_tokens: 9 }],
    [null, { max_tokens: 9 }],
  ])("to %s has only fields that it takes", async (ownedBy, extra) => {
    const engine = await open(playBack(STREAM), { ownedBy, key: "secret" });
    await ask(engine, fields);
    const [{ body, path, headers } = server.requests[0]!] = server.requests;
    const common = {
      model: "m",
      messages: ASKED.messages,
      temperature: 0.5,
      stream: true,
      stream_options: { include_usage: true },
    };
    expect(body).toEqual({ ...common, ...extra });
    expect([path, headers.authorization]).toEqual(["/v1/chat/completions", "Bearer secret"]);
  });

  it("has no key where there is none, and no referrer", async () => {
    const engine = await open(playBack(STREAM));
    await ask(engine);
    expect(server.requests[0]?.headers).not.toHaveProperty("authorization");
    expect(server.requests[0]?.headers).not.toHaveProperty("referer");
  });

  it("asks for a text's continuation at its own path", async () => {
    const text = `data: ${JSON.stringify({ choices: [{ index: 0, text: " upon a time", finish_reason: "length" }] })}\n\ndata: [DONE]\n\n`;
    const engine = await open(playBack(text), { ownedBy: "vllm" });
    let said = "";
    for await (const { choices } of await engine.completions.create({ prompt: "Once", stream: true })) {
      said += choices[0]?.text ?? "";
    }
    expect(said).toBe(" upon a time");
    expect(server.requests[0]).toMatchObject({ path: "/v1/completions", body: { prompt: "Once" } });
  });

  it("reads an answer that a proxy has gathered into one", async () => {
    const message = { role: "assistant", content: TOLD };
    const whole = { choices: [{ index: 0, message, finish_reason: "length" }], usage: { completion_tokens: 5 } };
    expect(await ask(await open(answerJson(200, whole)))).toEqual({ text: TOLD, reasoning: "", finish: "length" });
  });

  it("is closed at the server when the reader leaves", async () => {
    let close: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => (close = resolve));
    const engine = await open((_, response) => {
      response.on("close", close);
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(BROKEN);
    });
    const abort = new AbortController();
    for await (const _ of await engine.chat.completions.create({ ...ASKED, stream: true }, { signal: abort.signal })) {
      abort.abort();
      break;
    }
    await closed;
  });
});

describe("a server that misbehaves", () => {
  const cut: Script = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(BROKEN, () => response.destroy());
  };
  const stall: Script = (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(BROKEN);
  };

  it.each<[string, Script, string, RegExp]>([
    ["sends a web page with status 200", answerText(200, "<html>Welcome</html>"), "server_answer_invalid", /web page/],
    ["has no such path", answerText(404, "<html>Not found</html>"), "server_answer_invalid", /no OpenAI API.*\/v1/],
    ["wants a key", answerJson(401, { error: "Unauthorized" }), "server_access_denied", /key.*Unauthorized/],
    ["forbids the page's origin", answerText(403, ""), "server_access_denied", /403/],
    [
      "has no such model",
      answerJson(404, { error: { message: "The model `m` does not exist." } }),
      "model_not_found",
      /`m`/,
    ],
    ["refuses a field", answerJson(400, { error: { message: "top_k: extra inputs" } }), "server_refused", /top_k/],
    ["refuses in FastAPI's words", answerJson(422, { detail: "bad body" }), "server_refused", /bad body/],
    [
      "has a shorter context",
      answerJson(400, { object: "error", message: "This model's maximum context length is 512 tokens." }),
      "context_length_exceeded",
      /512/,
    ],
    ["is busy for ever", answerJson(429, { error: { message: "slow down" } }), "queue_full", /slow down/],
    ["is down behind its balancer", answerText(503, "<h1>No server is available</h1>"), "server_failed", /503/],
    [
      "redirects",
      answerText(307, "", { location: "https://elsewhere.example/v1" }),
      "server_answer_invalid",
      /elsewhere/,
    ],
    ["sends no JSON", playBack("data: {oops\n\n"), "server_answer_invalid", /unexpected response: \{oops/],
    ["sends a line without end", playBack("data: ".padEnd(5 * 2 ** 20, "x")), "server_answer_invalid", /too long/],
    ["sends nothing", playBack(""), "server_failed", /before its end/],
    ["resets the connection", cut, "server_failed", /broke off/],
    ["stalls", stall, "server_failed", /sent nothing for/],
  ])("%s", async (_, script, code, message) => {
    const engine = await open(script, { patience: { ...QUICK, ...(script === stall && { silenceMs: 60 }) } });
    const { error } = (await ask(engine)) as { error: ChorusError };
    expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  });

  it("is tried once more where a kept connection turns out to be closed", async () => {
    const engine = await open(inTurn((_, response) => void response.destroy(), playBack(STREAM)));
    expect(await ask(engine)).toMatchObject({ text: TOLD });
  });

  it("is given up soon where nobody listens", async () => {
    const engine = await open(playBack(STREAM), { patience: { ...QUICK, retryDelaysMs: [1, FOREVER_MS] } });
    await server.stop();
    const { error } = (await ask(engine)) as { error: ChorusError };
    expect(error).toMatchObject({ code: "server_unreachable", message: expect.stringContaining("Connections") });
    server = await ScriptedServer.start(playBack(STREAM));
  });

  it("is tried again while it is busy, as it asks", async () => {
    const busy = answerJson(429, { error: { message: "slow down" } }, { "retry-after": "0.05" });
    const engine = await open(inTurn(busy, answerText(503, ""), playBack(STREAM)));
    const before = performance.now();
    expect(await ask(engine)).toMatchObject({ text: TOLD });
    expect(performance.now() - before).toBeGreaterThan(45);
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ["vllm", { continue_final_message: true, add_generation_prompt: false }],
    ["chorus", { continue_final_message: true }],
    ["llamacpp", {}],
  ])("is asked for the rest where %s breaks off", async (ownedBy, flags) => {
    const engine = await open(inTurn(cut, answerText(502, ""), playBack(REST)), { ownedBy });
    expect(await ask(engine, { max_tokens: 9 })).toEqual({ text: TOLD, reasoning: "", finish: "stop" });
    const messages = [...ASKED.messages, { role: "assistant", content: "Grüße, 世界" }];
    expect(server.requests).toHaveLength(3);
    const { model, stream, stream_options, ...body } = server.requests[2]?.body ?? {};
    expect([model, stream, stream_options]).toEqual(["m", true, { include_usage: true }]);
    expect(body).toEqual({ messages, max_tokens: 8, ...flags });
  });

  it("is asked for the rest of a message that was continued already", async () => {
    const engine = await open(inTurn(cut, playBack(REST)), { ownedBy: "vllm" });
    const messages = [...ASKED.messages, { role: "assistant", content: "Well. " } as const];
    await ask(engine, { messages, continue_final_message: true });
    expect(server.requests[1]?.body["messages"]).toEqual([
      ASKED.messages[0],
      { role: "assistant", content: "Well. Grüße, 世界" },
    ]);
  });

  it("is not asked for the rest where it can't continue, or the text must be JSON", async () => {
    const schema = { type: "json_schema", json_schema: { name: "x", schema: {} } } as const;
    for (const [ownedBy, body] of [
      ["library", {}],
      ["vllm", { response_format: schema }],
    ] as const) {
      const engine = await open(inTurn(cut, playBack(REST)), { ownedBy });
      expect(await ask(engine, body)).toMatchObject({ text: "Grüße, 世界", error: { code: "server_failed" } });
      expect(server.requests).toHaveLength(1);
      await server.stop();
    }
    server = await ScriptedServer.start(cut);
  });

  it("ends at once when it is aborted, also between two tries", async () => {
    const reason = new Error("enough");
    const between = new AbortController();
    const refuse: Script = (_, response) => {
      response.on("close", () => between.abort(reason));
      response.writeHead(503, { connection: "close" }).end();
    };
    const waits = await open(refuse, { patience: { ...QUICK, retryDelaysMs: [FOREVER_MS] } });
    expect(await ask(waits, {}, between.signal)).toMatchObject({ text: "", error: reason });
    await server.stop();
    const stalls = await open(stall);
    const amid = new AbortController();
    const requested = ask(stalls, {}, amid.signal, () => amid.abort(reason));
    expect(await requested).toMatchObject({ text: "Grüße, 世界", error: reason });
  });

  it.each([
    [
      "busy",
      "The server is busy, trying again (2 of 3)",
      async () => new Response("", { status: 429, headers: { "retry-after": "20" } }),
    ],
    ["overloaded", "The server is busy, trying again (2 of 3)", async () => new Response("", { status: 503 })],
    ["broken", "No answer yet, trying again (2 of 3)", async () => new Response("", { status: 500 })],
    ["out of reach", "No answer yet, trying again (2 of 2)", () => Promise.reject(new TypeError("Failed to fetch"))],
  ])("is no longer open once it is aborted while it waits for a server that is %s", async (_, why, fetch) => {
    const unended = new Set<string>();
    const reasons: string[] = [];
    const observer = {
      sent: (name: string) => void unended.add(name),
      received() {},
      retrying: (__: string, words: string) => void reasons.push(words),
      ended: (name: string) => void unended.delete(name),
    };
    const timers = vi.spyOn(globalThis, "setTimeout");
    const abort = new AbortController();
    const patience = { ...QUICK, retryDelaysMs: [FOREVER_MS, FOREVER_MS] };
    const engine = new RemoteEngine({ baseUrl: server.baseUrl, model: "m", key: null, fetch, observer, patience });
    const requested = ask(engine, {}, abort.signal);
    await expect.poll(() => timers.mock.calls.map(([, ms]) => ms)).toContain(FOREVER_MS);
    timers.mockRestore();
    expect([unended.size, reasons]).toEqual([1, [why]]);
    const reason = new Error("enough");
    abort.abort(reason);
    expect(await requested).toMatchObject({ text: "", error: reason });
    expect(unended.size).toBe(0);
  });
});

it("is answered by our own server, with the tokens that the engine has", async () => {
  const fake = await openFakeModel();
  const own = await NodeServer.listen(createHandler(fake.engine), { host: "127.0.0.1", port: 0 });
  const { name } = fake.engine.model;
  const engine = new RemoteEngine({
    baseUrl: `${own.url}/v1`,
    model: name,
    key: null,
    ownedBy: "chorus",
    patience: QUICK,
  });
  const body = { seed: 1, max_tokens: 12, top_k: 5, temperature: 0.9 };
  const remote = await ask(engine, body);
  const { choices } = await fake.engine.chat.completions.create({ messages: ASKED.messages, ...body });
  expect(remote).toMatchObject({ text: choices[0]?.message.content, finish: choices[0]?.finish_reason });
  const started = remote.text.slice(0, 3);
  const messages = [...ASKED.messages, { role: "assistant", content: started } as const];
  expect(await ask(engine, { messages, continue_final_message: true, max_tokens: 2 })).toMatchObject({
    finish: "length",
  });
  await own.close();
  await fake.engine.dispose();
});
