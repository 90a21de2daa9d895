import { afterEach, describe, expect, it } from "vitest";
import { mcpScript } from "../../../tests/remote/mcp-script.ts";
import {
  answerJson,
  answerText,
  playBack,
  ScriptedServer,
  type Script,
} from "../../../tests/remote/scripted-server.ts";
import { McpClient } from "./mcp-client.ts";

/** Longer than any test. */
const FOREVER_MS = 3_600_000;
const PATIENCE = { list: FOREVER_MS, call: FOREVER_MS };
const TOOL = { name: "add", description: "Adds.", inputSchema: { type: "object" } };

let server: ScriptedServer | undefined;
afterEach(() => server?.stop());

async function clientOf(script: Script, patience = PATIENCE) {
  server = await ScriptedServer.start(script);
  const baseUrl = `http://${server.host}/mcp`;
  return new McpClient({ baseUrl, key: "secret" }, patience);
}

const text = (...texts: readonly string[]) => ({ content: texts.map((each) => ({ type: "text", text: each })) });

describe.each([false, true])("a server that streams: %s", (isStream) => {
  it("lists tools by pages and runs them, within its session and its version", async () => {
    const session = { id: "s1" };
    const pages = [[TOOL, { name: 3 }], [{ name: "hang.on" }]];
    const client = await clientOf(mcpScript({ pages, isStream, session, key: "secret", call: () => text("5", "6") }));
    expect(await client.listTools()).toEqual([TOOL, { name: "hang.on", description: "", inputSchema: {} }]);
    expect(await client.callTool("add", { a: 2 })).toBe("5\n6");
    const sent = server?.requests.map(({ body, headers }) => [body["method"], headers["mcp-session-id"]]);
    expect(sent).toEqual([
      ["initialize", undefined],
      ["notifications/initialized", "s1"],
      ["tools/list", "s1"],
      ["tools/list", "s1"],
      ["tools/call", "s1"],
    ]);
    expect(server?.requests.at(-1)?.headers["mcp-protocol-version"]).toBe("2025-03-26");
    expect(server?.requests.at(-1)?.body["params"]).toEqual({ name: "add", arguments: { a: 2 } });
  });
});

it("begins a new session where the server has ended its own", async () => {
  const session = { id: "s1" };
  const client = await clientOf(mcpScript({ pages: [[TOOL]], session, call: () => text("5") }));
  await client.listTools();
  session.id = "s2";
  expect(await client.callTool("add", {})).toBe("5");
});

it.each([
  [{ isError: true, ...text("no such city") }, "Error: no such city"],
  [{ content: [{ type: "image", data: "…" }] }, "[image]"],
  [{ structuredContent: { sky: "blue" } }, '{"sky":"blue"}'],
  [{}, ""],
])("reads the result %j", async (result, read) => {
  const client = await clientOf(mcpScript({ call: () => result }));
  expect(await client.callTool("add", {})).toBe(read);
});

describe("says what is wrong with", () => {
  it.each<[what: string, script: Script, message: RegExp]>([
    ["an error", mcpScript({ call: () => ({ code: -32_602, message: "a is missing" }) }), /: a is missing$/],
    ["another address", answerJson(404, {}), /no MCP server over HTTP at this address\. It often ends in \/mcp\.$/],
    ["a wrong key", mcpScript({ key: "other" }), /refuses access \(401\)\. Check the key/],
    ["a page", answerText(200, "<html>"), /ended without an answer to initialize\.$/],
    ["another address that redirects", answerText(307, "", { location: "http://127.0.0.1:1/" }), /redirects to/],
    ["much too long an answer", playBack(`data: ${"x".repeat(2 ** 20)}\n\n`.repeat(5)), /sends without end\.$/],
    ["a server that hangs", mcpScript({ call: () => null }), /has not answered tools\/call within 0\.3 seconds\.$/],
  ])("%s", async (what, script, message) => {
    const client = await clientOf(script, what === "a server that hangs" ? { ...PATIENCE, call: 300 } : PATIENCE);
    await expect(client.callTool("add", {})).rejects.toThrow(message);
  });
});

it("is ended by its signal", async () => {
  const client = await clientOf(mcpScript({ pages: [[TOOL]] }));
  await client.listTools();
  const abort = new AbortController();
  const called = client.callTool("add", {}, abort.signal);
  abort.abort(new Error("Stop"));
  await expect(called).rejects.toThrow("Stop");
  expect(await client.listTools()).toHaveLength(1);
});
