import { afterEach, describe, expect, it } from "vitest";

import {
  answerJson,
  answerText,
  playBack,
  ScriptedServer,
  type Script,
} from "../../../tests/remote/scripted-server.ts";
import { TRANSCRIPTS } from "../../../tests/remote/transcripts.ts";
import { testConnection, type PageFacts } from "./test-connection.ts";

let server: ScriptedServer;
afterEach(() => server?.stop());

const PAGE: PageFacts = { origin: "http://app.example", permission: async () => null };
const SECURE: PageFacts = { ...PAGE, origin: "https://app.example" };
/** A page from the same machine needs no permission for it. */
const LOCAL: PageFacts = { ...PAGE, origin: "http://localhost:4173" };
const LIST = { object: "list", data: [{ id: "a", owned_by: "vllm" }, { id: "b" }, { no: "model" }] };

const answers: Script = (request, response) =>
  request.path === "/v1/models"
    ? answerJson(200, LIST)(request, response)
    : playBack(TRANSCRIPTS["vllm"]?.chat ?? "")(request, response);

async function test(script: Script, options: { model?: string; patienceMs?: number; fetch?: typeof fetch } = {}) {
  server = await ScriptedServer.start(script);
  // What is asked for is named long before, even by a busy machine.
  const { model = null, patienceMs = 120_000, ...access } = options;
  return testConnection({ baseUrl: server.baseUrl, key: "secret", ...access }, { model }, PAGE, patienceMs);
}

/** What a browser's fetch does where it may not: it rejects, and says nothing. Without CORS, it sends and reads nothing. */
const refusesCors: typeof fetch = async (url, init) => {
  if (init?.mode !== "no-cors") throw new TypeError("Failed to fetch");
  expect(new Headers(init.headers).has("authorization")).toBe(false);
  return fetch(url);
};
const refuses: typeof fetch = () => Promise.reject(new TypeError("Failed to fetch"));

describe("a test of a connection", () => {
  it("finds the models, and asks one for a token", async () => {
    const found = { models: ["a", "b"], ownedBy: "vllm" };
    expect(await test(answers)).toEqual({ problem: null, message: "a answers.", found });
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1/models", "/v1/chat/completions"]);
    expect(server.requests[1]?.body).toMatchObject({ model: "a", max_tokens: 1 });
  });

  it("asks a model whose name was typed, where the server has no list", async () => {
    const noList: Script = (request, response) =>
      request.path === "/v1/models" ? answerText(404, "")(request, response) : answers(request, response);
    expect(await test(noList, { model: "typed" })).toMatchObject({ problem: null, found: null });
  });

  it.each<[string, Script, string, RegExp]>([
    ["a wrong key", answerJson(401, {}), "key", /key of this connection/],
    ["an origin that Ollama does not know", answerText(403, ""), "key", /OLLAMA_ORIGINS=http:\/\/app\.example/],
    ["a web page", answerText(200, "<html>"), "no API", /list of models/],
    ["a wrong path", answerText(404, "<html>"), "no API", /\/v1/],
    ["no model", answerJson(200, { data: [] }), "no such model", /lists no model/],
    ["a failure", answerText(500, ""), "refused", /500/],
    ["a redirect", answerText(302, "", { location: "https://login.example/" }), "no API", /login\.example/],
  ])("names %s", async (_, script, problem, message) => {
    expect(await test(script)).toMatchObject({ problem, message: expect.stringMatching(message) });
  });

  it("names silence", async () => {
    const { problem, message } = await test(() => undefined, { patienceMs: 300 });
    expect([problem, message]).toEqual(["slow", expect.stringContaining("0.3 seconds")]);
  });

  it("names a model that the server has not", async () => {
    const { problem, message } = await test(answers, { model: "c" });
    expect([problem, message]).toEqual(["no such model", 'The server has no model "c". It has "a", "b".']);
  });

  it("names a server that does not let pages read", async () => {
    const { problem, message } = await test(answers, { fetch: refusesCors });
    expect(problem).toBe("CORS");
    expect(message).toContain("--cors http://app.example");
  });

  it("names a server that nobody runs", async () => {
    expect(await test(answers, { fetch: refuses })).toMatchObject({
      problem: "unreachable",
      message: expect.stringContaining(server.host),
    });
  });

  it.each<[string, PermissionState | null, PageFacts, string]>([
    ["http://127.0.0.1:1/v1", "denied", SECURE, "permission"],
    ["http://127.0.0.1:1/v1", "prompt", PAGE, "permission"],
    ["http://192.168.0.2:1/v1", "denied", PAGE, "permission"],
    ["http://127.0.0.1:1/v1", "granted", PAGE, "unreachable"],
    ["http://127.0.0.1:1/v1", "prompt", LOCAL, "unreachable"],
    ["http://127.0.0.1:1/v1", null, SECURE, "mixed content"],
    ["http://host.example/v1", null, SECURE, "mixed content"],
    ["http://host.example/v1", null, PAGE, "unreachable"],
    ["https://host.example/v1", null, SECURE, "unreachable"],
  ])("%s with the permission %s", async (baseUrl, state, page, problem) => {
    const requested: string[] = [];
    const permission = async (name: string) => (requested.push(name), state);
    const report = await testConnection(
      { baseUrl, key: null, fetch: refuses },
      { model: null },
      { ...page, permission },
    );
    expect(report.problem).toBe(problem);
    const isFree = baseUrl.includes("example") || page === LOCAL;
    expect(requested[0]).toBe(isFree ? undefined : baseUrl.includes("127") ? "loopback-network" : "local-network");
  });
});
