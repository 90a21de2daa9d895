import { Agent, request as ask, type RequestOptions } from "node:http";
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
/** Keeps its one connection. */
let agent: Agent;
beforeAll(async () => void (fake = await openFakeModel()));
afterAll(() => fake.engine.dispose());
beforeEach(async () => {
  // As serve() has it: fetch() copies the request, which begins to read its body.
  const answer: Handler = (request) => fake.engine.fetch(request);
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
