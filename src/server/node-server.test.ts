import { Agent, request as ask, type RequestOptions } from "node:http";
import { once } from "node:events";
import { connect } from "node:net";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";

import { withApiKey, withJsonBodies, type Handler } from "./access.ts";
import { MAX_BODY_BYTES } from "../http/read-json.ts";
import { openFakeModel, type FakeModel } from "../../tests/fakes/fake-model.ts";
import { NodeServer } from "./node-server.ts";

const KEY = { authorization: "Bearer secret" };
const JSON_BODY = { ...KEY, "content-type": "application/json" };

let fake: FakeModel;
let server: NodeServer;
/** Paths of the requests that came to the handler. */
let handled: string[];
/** Keeps its one connection. */
let agent: Agent;
beforeAll(async () => void (fake = await openFakeModel()));
afterAll(() => fake.engine.dispose());
beforeEach(async () => {
  // As serve() has it: fetch() copies the request, which begins to read its body.
  handled = [];
  const answer: Handler = (request) => {
    handled.push(new URL(request.url).pathname);
    return fake.engine.fetch(request);
  };
  const handler = withApiKey(withJsonBodies(answer), "secret");
  server = await NodeServer.listen(handler, { host: "127.0.0.1", port: 0 });
  agent = new Agent({ keepAlive: true, maxSockets: 1 });
});
afterEach(async () => {
  agent.destroy();
  await server.close();
});

/** Asks on the kept connection. Resolves to the answer's status and to the connection's port here. */
function askKept(
  path: string,
  options: RequestOptions = {},
  body = "",
): Promise<readonly [status: number | undefined, port: number | undefined]> {
  return new Promise((resolve, reject) => {
    const requested = ask(server.url + path, { agent, headers: KEY, ...options }, (answer) => {
      const { localPort } = answer.socket;
      answer.resume().once("end", () => resolve([answer.statusCode, localPort]));
    });
    requested.once("error", reject);
    requested.end(body);
  });
}

/** Sends bytes as they are. Resolves to what comes until the server ends the connection. */
function sendRaw(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = "";
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () => socket.write(text));
    socket.on("data", (bytes) => (received += String(bytes)));
    socket.on("end", () => resolve(received));
    socket.on("error", reject);
  });
}

describe("a kept connection", () => {
  const chunked = { ...JSON_BODY, "transfer-encoding": "chunked" };
  it.each([
    [401, "/v1/completions", {}, 1_000_000],
    [404, "/nowhere", JSON_BODY, 1_000_000],
    [405, "/v1/models", JSON_BODY, 1_000_000],
    [415, "/v1/completions", KEY, 1_000_000],
    [415, "/v1/completions", { ...JSON_BODY, "content-encoding": "gzip" }, 1_000_000],
    [413, "/v1/completions", JSON_BODY, MAX_BODY_BYTES + 1_000_000],
    [413, "/v1/completions", chunked, MAX_BODY_BYTES + 1_000_000],
  ])("serves on after a %i for a large body: %s %j", async (status, path, headers, length) => {
    const [refused, port] = await askKept(path, { method: "POST", headers }, "x".repeat(length));
    expect([refused, await askKept("/version")]).toEqual([status, [200, port]]);
  });
});

describe("what HTTP has and pages have not", () => {
  it.each([
    ["TRACE /v1/models", 501],
    ["GET http://chorus.test/v1/models", 200],
    ["GET http://chorus.test/nowhere?x=1", 404],
    ["GET //chorus.test/v1/models", 404],
    ["OPTIONS *", 405],
  ])("is answered: %s with %i", async (line, status) => {
    const answer = await sendRaw(
      `${line} HTTP/1.1\r\nHost: a\r\nAuthorization: bearer secret\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  });
});

describe("bytes that no honest client sends", () => {
  const get = (path: string, ...headers: string[]) =>
    [`GET ${path} HTTP/1.1`, "Host: a", "Authorization: Bearer secret", ...headers, "", ""].join("\r\n");
  const post = (headers: string, body = "") =>
    `POST /v1/completions HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer secret\r\nContent-Type: application/json\r\n${headers}\r\n\r\n${body}`;
  const hidden = get("/hidden", "Connection: close");
  const chunked = "Transfer-Encoding: chunked";

  it("several requests at once are answered in their order", async () => {
    const answers = await sendRaw(get("/version") + get("/nowhere") + get("/v1/models", "Connection: close"));
    expect([...answers.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status)).toEqual(["200", "404", "200"]);
    expect(handled).toEqual(["/version", "/nowhere", "/v1/models"]);
  });

  it.each([
    ["two lengths", post("Content-Length: 2\r\nContent-Length: 40", `{}${hidden}`)],
    ["a length beside chunks", post(`Content-Length: 2\r\n${chunked}`, `0\r\n\r\n${hidden}`)],
    ["chunks beside a length", post(`${chunked}\r\nContent-Length: 2`, `0\r\n\r\n${hidden}`)],
    ["chunks that are hidden", post("Transfer-Encoding: chunked, x", `0\r\n\r\n${hidden}`)],
    ["chunks by another name", post("Transfer-Encoding: xchunked", `0\r\n\r\n${hidden}`)],
    ["a length that is none", post("Content-Length: +2", `{}${hidden}`)],
    ["a chunk's length that is none", post(chunked, `0x2\r\n{}\r\n0\r\n\r\n${hidden}`)],
    ["a header that goes on in the next line", get("/v1/models", "A: b", " c: d") + hidden],
    ["white space after a header's name", post("Content-Length : 2", `{}${hidden}`)],
    ["lines that end without a carriage return", get("/v1/models").replaceAll("\r", "") + hidden],
    ["a carriage return within a header", get("/v1/models", "A: b\rTransfer-Encoding: chunked") + hidden],
    ["a NUL in a header", get("/v1/models", "A: b\0c") + hidden],
    ["no host", get("/v1/models", "Connection: close").replace("Host: a\r\n", "")],
    ["a byte order mark", `\ufeff${get("/v1/models")}${hidden}`],
    ["another protocol", `SSH-2.0-x\r\n\r\n${hidden}`],
    ["HTTP/2", `PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n${hidden}`],
    ["TLS", `\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03\r\n\r\n${hidden}`],
  ])("%s: refused, with what comes after it", async (_, bytes) => {
    expect(await sendRaw(bytes)).toMatch(/^HTTP\/1\.1 400 /);
    expect(handled).not.toContain("/hidden");
  });

  it("headers that are too large are refused", async () => {
    expect(await sendRaw(get("/v1/models", `A: ${"b".repeat(20_000)}`) + hidden)).toMatch(/^HTTP\/1\.1 431 /);
    expect(handled).toEqual([]);
  });

  it.each([
    ["a length", post("Content-Length: 100", '{"prompt": "Hel')],
    ["chunks", post(chunked, 'f\r\n{"prompt": "Hel')],
    ["half a line of headers", "POST /v1/compl"],
  ])("a body that breaks off costs nobody else anything: %s", async (_, bytes) => {
    const socket = connect(Number(new URL(server.url).port), "127.0.0.1", () => socket.write(bytes));
    const isEnded = once(socket, "close");
    socket.on("error", () => undefined);
    await once(socket, "connect");
    if (bytes.includes("{")) await expect.poll(() => handled).toEqual(["/v1/completions"]);
    socket.resetAndDestroy();
    await isEnded;
    const body = JSON.stringify({ prompt: "Hello", max_tokens: 1 });
    expect((await fetch(`${server.url}/v1/completions`, { method: "POST", headers: JSON_BODY, body })).status).toBe(
      200,
    );
    expect((await fake.engine.stats()).num_requests_running).toBe(0);
  });
});

const END = " (the end)";

it("of forty streams at once half leave in mid-answer: all others get what they get alone, and no block stays", async () => {
  const stream = async (number: number, closeAfter = Infinity): Promise<string> => {
    const abort = new AbortController();
    const body = JSON.stringify({
      prompt: `Number ${number % 4}`,
      max_tokens: 10 + (number % 4),
      temperature: 0,
      ignore_eos: true,
      stream: true,
    });
    const init = { method: "POST", headers: JSON_BODY, body, signal: abort.signal };
    let text = "";
    const answer = await fetch(`${server.url}/v1/completions`, init);
    for await (const part of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += part;
      if (text.split("\n\n").length <= closeAfter) continue;
      abort.abort();
      break;
    }
    const events = text.split("\n\n").slice(0, -1);
    const chunks = events.flatMap((event) => {
      const data = event.replace("data: ", "");
      return data === "[DONE]" ? [] : [JSON.parse(data) as { id: string; choices: { text: string }[] }];
    });
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1);
    return chunks.map(({ choices }) => choices[0]?.text ?? "").join("") + (events.at(-1) === "data: [DONE]" ? END : "");
  };
  const alone: string[] = [];
  for (let number = 0; number < 4; number++) alone.push(await stream(number));
  for (const one of alone) expect(one.indexOf(END)).toBeGreaterThan(10);
  const together = Array.from({ length: 40 }, (_, i) => stream(i, i % 2 === 0 ? 1 + (i % 7) : Infinity));
  for (const [i, text] of (await Promise.all(together)).entries()) {
    if (i % 2 === 0) expect(alone[i % 4]!.startsWith(text.replace(END, "")), text).toBe(true);
    else expect(text).toBe(alone[i % 4]);
  }
  await expect.poll(async () => (await fake.engine.stats()).num_requests_running).toBe(0);
  const { num_gpu_blocks: all, num_gpu_blocks_free: free, num_requests_waiting: waiting } = await fake.engine.stats();
  expect([free, waiting]).toEqual([all, 0]);
});

it("while it drains, answers what is in flight, and 503 to all else, its health included", async () => {
  fake.pause();
  const body = JSON.stringify({ prompt: "Hello", max_tokens: 4, ignore_eos: true, stream: true });
  const requested = fetch(`${server.url}/v1/completions`, { method: "POST", headers: JSON_BODY, body });
  await expect.poll(async () => (await fake.engine.stats()).num_requests_running).toBe(1);
  const half = sendRaw("GET /health HTTP/1.1\r\n");
  const drained = server.drain(30_000);
  for (const path of ["/health", "/v1/models"]) {
    const refused = await fetch(server.url + path);
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: { code: "server_draining" } }]);
  }
  fake.resume();
  expect(await (await requested).text()).toMatch(/data: \[DONE\]\n\n$/);
  await drained;
  // A connection that has sent half a request does not hold it.
  await server.close();
  await half.catch(() => undefined);
  await expect(fetch(`${server.url}/health`)).rejects.toThrow(/fetch failed/);
});
