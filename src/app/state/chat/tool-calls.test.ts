import { afterEach, describe, expect, it } from "vitest";
import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";
import { mcpScript } from "../../../../tests/remote/mcp-script.ts";
import { inTurn, playBack, ScriptedServer, type Script } from "../../../../tests/remote/scripted-server.ts";
import type { Settings } from "../settings/settings.ts";
import { Toolbox } from "../tools/toolbox.ts";
import { allChats, chatMarkdown, exportChats, importChats } from "../workspace/export-chats.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { Pane } from "./pane.ts";
import { waitingCalls } from "./tool-rounds.ts";

const servers: ScriptedServer[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

async function serve(script: Script): Promise<ScriptedServer> {
  const server = await ScriptedServer.start(script);
  servers.push(server);
  return server;
}

const events = (...deltas: readonly object[]) =>
  playBack(
    [...deltas.map((delta) => ({ delta })), { delta: {}, finish_reason: "stop" }]
      .map((choice) => `data: ${JSON.stringify({ choices: [{ index: 0, ...choice }] })}\n\n`)
      .join(""),
  );
/** The name comes first, the arguments in pieces. */
const calls = (...all: readonly (readonly [name: string, args: string])[]) =>
  events(
    ...all.flatMap(([name, args], index) => [
      { tool_calls: [{ index, id: `c${index}`, type: "function", function: { name, arguments: args.slice(0, 3) } }] },
      { tool_calls: [{ index, function: { arguments: args.slice(3) } }] },
    ]),
  );
const sum = calls(["calculator", '{"expression": "17 * 23"}']);
const says = (content: string) => events({ content });

/** A page whose pane is answered by a server with this script. */
async function openPage(script: Script, settings: Settings = { calculator: true }) {
  const page = openPanes();
  const server = await serve(script);
  const remote = { baseUrl: page.connections.add(server.baseUrl, "", false), model: "m" };
  const workspace: Workspace = new Workspace({
    ...page.context,
    toolbox: async () => new Toolbox(page.connections, () => allChats(workspace)),
  });
  const [pane] = workspace.store.getState().panes as [Pane];
  pane.answerBy(remote);
  pane.replaceSettings(settings);
  const bodies = () => server.requests.map(({ body }) => body);
  return { ...page, server, workspace, pane, bodies };
}

/** Resolves once a pane's phase is this one. */
const until = (pane: Pane, phase: string) =>
  new Promise<void>((resolve) => {
    const look = () => {
      if (pane.store.getState().phase !== phase) return;
      unsubscribe();
      resolve();
    };
    const unsubscribe = pane.store.subscribe(look);
    look();
  });
async function ask(pane: Pane, question = "What is 17 times 23?"): Promise<void> {
  pane.send(question);
  await until(pane, "idle");
}

const resultsOf = (pane: Pane) =>
  lastTurn(pane)?.rounds?.flatMap((round) => round.calls.map(({ result }) => result)) ?? [];

describe("a call", () => {
  it("waits for a click; its result goes to the model, whose answer follows", async () => {
    const { pane, bodies, announcements } = await openPage(inTurn(sum, says("It is 391."), says("Yes.")));
    await ask(pane);
    expect(lastTurn(pane)).toMatchObject({ answer: "", end: "calls" });
    expect(waitingCalls(lastTurn(pane) ?? {})).toMatchObject([{ name: "calculator", from: "page" }]);
    expect(announcements.store.getState().at(-1)?.text).toBe("Pane 1: The model calls calculator.");
    expect(bodies()[0]).toMatchObject({ tools: [{ function: { name: "calculator" } }] });
    expect(bodies()[0]).not.toHaveProperty("tool_choice");
    void pane.calls.run("c0");
    await until(pane, "idle");
    expect(lastTurn(pane)).toMatchObject({ answer: "It is 391.", end: "stop" });
    expect(resultsOf(pane)).toEqual(["391"]);
    await ask(pane, "Sure?");
    expect(bodies()[2]?.["messages"]).toEqual([
      { role: "user", content: "What is 17 times 23?" },
      {
        role: "assistant",
        content: null,
        tool_calls: [
          { id: "c0", type: "function", function: { name: "calculator", arguments: '{"expression": "17 * 23"}' } },
        ],
      },
      { role: "tool", tool_call_id: "c0", content: "391" },
      { role: "assistant", content: "It is 391." },
      { role: "user", content: "Sure?" },
    ]);
  });

  it("that is refused, typed or impossible has a result, too", async () => {
    const own = [{ type: "function", function: { name: "weather" } }];
    const all = calls(
      ["weather", "{}"],
      ["calculator", "{}"],
      ["calculator", '{"expression": "1 / 0"}'],
      ["nope", "{}"],
    );
    const { pane, bodies } = await openPage(inTurn(all, says("So.")), {
      calculator: true,
      own_tools: JSON.stringify(own),
    });
    await ask(pane);
    expect(waitingCalls(lastTurn(pane) ?? {}).map(({ from }) => from)).toEqual(["person", "page", "page"]);
    pane.calls.give("c1", "The person did not run this call.");
    pane.calls.give("c0", "Rain");
    void pane.calls.run("c2");
    await until(pane, "idle");
    const results = [
      "Rain",
      "The person did not run this call.",
      "Error: Division by zero.",
      'There is no tool "nope".',
    ];
    expect(resultsOf(pane)).toEqual(results);
    const sent = bodies()[1]?.["messages"] as { content: string }[];
    expect(sent.slice(-4).map(({ content }) => content)).toEqual(results);
  });

  it("that was cut off does not run, and is sent as one without arguments", async () => {
    const { pane, bodies } = await openPage(inTurn(calls(["calculator", '{"expression": "17 ']), says("Sorry.")));
    pane.send("What is 17 times 23?");
    await expect.poll(() => lastTurn(pane)?.answer).toBe("Sorry.");
    expect(resultsOf(pane)).toEqual(["Not run: its arguments are not whole, or no JSON object."]);
    expect(JSON.stringify(bodies()[1])).toContain('"arguments":"{}"');
  });

  it("of a trusted tool runs by itself, and after eight rounds the model must answer", async () => {
    const { pane, bodies } = await openPage(sum);
    await ask(pane);
    const [call] = waitingCalls(lastTurn(pane) ?? {});
    if (call) pane.calls.trust(call);
    // This server goes on calling although it may not.
    await expect.poll(() => lastTurn(pane)?.rounds?.length).toBe(9);
    await until(pane, "idle");
    expect(bodies().map((body) => body["tool_choice"])).toEqual([
      ...Array.from({ length: 8 }, () => undefined),
      "none",
    ]);
    expect(resultsOf(pane).at(-1)).toBeNull();
    expect(bodies()).toHaveLength(9);
  });

  it("of a tool that was trusted in another chat of the pane waits for a click", async () => {
    const { pane, workspace } = await openPage(inTurn(sum, says("391."), sum));
    await ask(pane);
    const [call] = waitingCalls(lastTurn(pane) ?? {});
    if (call) pane.calls.trust(call);
    await expect.poll(() => lastTurn(pane)?.answer).toBe("391.");
    await until(pane, "idle");
    workspace.newChat(pane);
    await ask(pane);
    expect(pane.store.getState().phase).toBe("idle");
    expect(resultsOf(pane)).toEqual([null]);
  });

  it("comes first, and once, where that is set", async () => {
    const { pane, bodies } = await openPage(inTurn(sum, says("391.")), {});
    pane.send("What is 17 times 23?", { calculator: true, tool_choice: "once" });
    await until(pane, "idle");
    void pane.calls.run("c0");
    await until(pane, "idle");
    expect(bodies().map((body) => body["tool_choice"])).toEqual(["required", "none"]);
    expect(bodies()[0]?.["parallel_tool_calls"]).toBe(false);
    await ask(pane, "And now?");
    expect(bodies()[2]).not.toHaveProperty("tools");
  });
});

it("what waits still waits after a reload, goes through an export, and can run then", async () => {
  const { pane, workspace, bodies } = await openPage(inTurn(sum, says("It is 391.")));
  await ask(pane);
  const text = await exportChats(workspace);
  await importChats(workspace, text);
  const imported = workspace.store.getState().panes.at(-1);
  if (imported === undefined || imported === pane) throw new Error("It is not there.");
  expect(lastTurn(imported)).toMatchObject({ question: "What is 17 times 23?", end: "calls" });
  void imported.calls.run("c0");
  await until(imported, "idle");
  expect(lastTurn(imported)).toMatchObject({ answer: "It is 391." });
  expect(bodies()).toHaveLength(2);
  expect(chatMarkdown(imported.toSaved())).toContain(
    '## What is 17 times 23?\n\nCall of calculator:\n\n```\n{"expression": "17 * 23"}\n\n391\n```\n\nIt is 391.\n',
  );
});

it("a round that broke off goes on from its results, and regenerating begins anew", async () => {
  const fails: Script = (_, response) => void response.writeHead(400).end('{"error": {"message": "no tools here"}}');
  const { pane, bodies } = await openPage(inTurn(sum, fails, says("It is 391."), says("Hello.")));
  await ask(pane);
  void pane.calls.run("c0");
  await until(pane, "idle");
  expect(pane.store.getState().note?.body).toContain("Maybe it takes no tools");
  expect(lastTurn(pane)).toMatchObject({ end: "calls", rounds: [{ calls: [{ result: "391" }] }] });
  expect(pane.canContinueAnswer).toBe(true);
  pane.continueAnswer();
  await until(pane, "idle");
  expect(lastTurn(pane)).toMatchObject({ answer: "It is 391.", rounds: [{}] });
  pane.regenerate();
  await until(pane, "idle");
  expect(lastTurn(pane)).toMatchObject({ answer: "Hello." });
  expect(lastTurn(pane)).not.toHaveProperty("rounds");
  expect(bodies()[3]?.["messages"]).toHaveLength(1);
});

describe("an MCP server", () => {
  const tools = [{ name: "weather.now", inputSchema: { type: "object" } }];
  const call = calls(["weather_now", '{"city": "Rome"}']);

  it("gives its tools, and runs calls with its key", async () => {
    const mcp = await serve(
      mcpScript({
        pages: [tools],
        key: "k",
        call: (name) => ({ content: [{ type: "text", text: `${name}: ${"☀".repeat(9000)}` }] }),
      }),
    );
    const url = `http://${mcp.host}/mcp`;
    const { pane, connections, bodies } = await openPage(inTurn(call, says("Sunny.")), { mcp_servers: [url] });
    await ask(pane);
    expect(pane.store.getState().note?.body).toContain(`This browser has no MCP server ${url}.`);
    expect([mcp.requests.length, bodies().length]).toEqual([0, 0]);
    connections.add(url, "k", false, "tools");
    pane.sendDraft();
    await until(pane, "idle");
    expect(bodies()[0]).toMatchObject({ tools: [{ function: { name: "weather_now" } }] });
    void pane.calls.run("c0");
    await until(pane, "idle");
    expect(resultsOf(pane)[0]).toMatch(/^weather\.now: ☀+… \(\d+ more characters\)$/);
  });

  it("that hangs is ended by Stop, and its call waits again", async () => {
    const mcp = await serve(mcpScript({ pages: [tools] }));
    const url = `http://${mcp.host}/mcp`;
    const { pane, connections } = await openPage(call, { mcp_servers: [url] });
    connections.add(url, "", false, "tools");
    await ask(pane);
    void pane.calls.run("c0");
    expect(pane.store.getState()).toMatchObject({ phase: "calling", calling: ["c0"] });
    await expect.poll(() => mcp.requests.at(-1)?.body["method"]).toBe("tools/call");
    pane.stop();
    expect(pane.store.getState()).toMatchObject({ phase: "idle", calling: [] });
    expect(waitingCalls(lastTurn(pane) ?? {})).toHaveLength(1);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(resultsOf(pane)).toEqual([null]);
  });
});

it("a search finds passages of other chats of this browser", async () => {
  const found = calls(["search_chats", '{"words": "purple octopus"}']);
  const { pane, workspace } = await openPage(inTurn(says("A purple octopus sang."), found, says("You did.")), {
    search_chats: true,
  });
  await ask(pane, "Tell me a story");
  workspace.newChat(pane);
  await ask(pane, "Did I ask about a purple octopus?");
  void pane.calls.run("c0");
  await until(pane, "idle");
  expect(resultsOf(pane)[0]).toMatch(/^1 chats found\.\n\d{4}-\d\d-\d\d "Tell me a story": A purple octopus sang\.$/);
});
