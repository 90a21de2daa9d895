import { afterEach, beforeEach, expect, it, vi } from "vitest";

import { lastTurn, openPanes } from "../../../../tests/app/open-panes.ts";
import { answerJson, playBack, ScriptedServer, type Script } from "../../../../tests/remote/scripted-server.ts";
import { TOLD, TRANSCRIPTS } from "../../../../tests/remote/transcripts.ts";
import { exportChats, importChats } from "../workspace/export-chats.ts";
import { Workspace } from "../workspace/workspace.ts";
import type { Pane } from "./pane.ts";
import { sampleStep } from "../../../../tests/requests/sample-reports.ts";

let server: ScriptedServer;
beforeEach(async () => void (server = await ScriptedServer.start(playBack(TRANSCRIPTS["vllm"]?.chat ?? ""))));
afterEach(() => server.stop());

const REFUSES: Script = answerJson(400, { error: { message: "no such thing" } });
const phaseOf = (pane: Pane) => pane.store.getState().phase;

/** Resolves once a pane is as it is wanted to be, however long that takes. */
function until(pane: Pane, isSo: () => boolean): Promise<void> {
  return new Promise((resolve) => {
    const look = () => isSo() && resolve();
    pane.store.subscribe(look);
    look();
  });
}

const idle = (pane: Pane) => until(pane, () => phaseOf(pane) === "idle");

/** A page whose engine never loads, unless `control` starts it, with a connection that has a key. */
function openPage() {
  const page = openPanes({ maxNumSeqs: 1 });
  const baseUrl = page.connections.add(server.baseUrl, "secret", false);
  page.connections.addModel(baseUrl, "m");
  return { ...page, remote: { baseUrl, model: "m" } };
}

it("is answered by the server, without this page's engine, and says so", async () => {
  const { openPane, remote } = openPage();
  const pane = openPane(1);
  pane.answerBy(remote);
  expect(pane.send("Hello")).toBe(true);
  expect(phaseOf(pane)).toBe("queued");
  await idle(pane);
  expect(lastTurn(pane)).toMatchObject({
    answer: TOLD,
    reasoning: "A greeting.",
    end: "stop",
    by: `m at ${server.host}`,
  });
  expect(pane.store.getState().figures).toMatchObject({ outputTokens: 8, queuePlace: null });
  expect(pane.store.getState().figures?.ttftMs).toBeGreaterThan(0);
  expect(server.requests[0]?.body).toMatchObject({ model: "m", messages: [{ role: "user", content: "Hello" }] });
  // The page's default length is for its own small context.
  expect(server.requests[0]?.body).not.toHaveProperty("max_tokens");
});

it("sends a server what is set about drawing and ending also where beams are set, which no server is asked for", async () => {
  const { openPane, remote } = openPage();
  const pane = openPane(1);
  pane.answerBy(remote);
  pane.replaceSettings({ temperature: 0.3, seed: 7, stop: ["END"], beams: 4 });
  pane.send("Hello");
  await idle(pane);
  expect(server.requests[0]?.body).toMatchObject({ temperature: 0.3, seed: 7, stop: ["END"] });
});

it("sends the whole conversation to whoever answers next", async () => {
  const { control, first, step, openPane, remote } = openPage();
  await control.start();
  const pane = openPane(1);
  pane.send("One");
  await step(1);
  await idle(pane);
  pane.answerBy(remote);
  pane.send("Two");
  await idle(pane);
  expect(server.requests[0]?.body["messages"]).toEqual([
    { role: "user", content: "One" },
    { role: "assistant", content: "Yes." },
    { role: "user", content: "Two" },
  ]);
  pane.answerBy(null);
  pane.send("Three");
  await step(1);
  expect(first.accepted.at(-1)?.messages.map(({ content }) => content)).toEqual(["One", "Yes.", "Two", TOLD, "Three"]);
  expect(lastTurn(pane)).not.toHaveProperty("by");
});

it("takes a refused question back, with the server's reason, whatever the engine does", async () => {
  const { openPane, remote } = openPage();
  const pane = openPane(1);
  pane.answerBy(remote);
  server.script = REFUSES;
  pane.send("Hello");
  await idle(pane);
  const { draft, turns, note } = pane.store.getState();
  expect([draft, turns]).toEqual(["Hello", []]);
  expect(note).toMatchObject({ title: "The server refuses this request", isUnsent: true });
  expect(note).not.toHaveProperty("action");
  expect(note?.body).toContain("no such thing");
});

it("keeps what came before the server broke off", async () => {
  const { openPane, remote } = openPage();
  const pane = openPane(1);
  pane.answerBy(remote);
  server.script = playBack(TRANSCRIPTS["vllm"]?.broken ?? "");
  pane.send("Hello");
  await idle(pane);
  expect(lastTurn(pane)).toMatchObject({ answer: "Grüße", end: "interrupted" });
  expect(pane.store.getState().note?.body).toMatch(/EngineCore.*The text so far is kept/);
});

it("stops at the server too", async () => {
  const { openPane, remote } = openPage();
  const pane = openPane(1);
  pane.answerBy(remote);
  const closed = new Promise<void>((resolve) => {
    server.script = (_, response) => {
      response.on("close", () => resolve());
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`data: ${JSON.stringify({ choices: [{ delta: { content: "So" } }] })}\n\n`);
    };
  });
  pane.send("Hello");
  await until(pane, () => lastTurn(pane)?.answer === "So");
  pane.stop();
  expect(lastTurn(pane)).toMatchObject({ answer: "So", end: "stopped" });
  await closed;
});

it("is forked, exported and imported with its server, never with the key", async () => {
  const { context, connections, remote } = openPage();
  const workspace = new Workspace(context);
  const [pane] = workspace.store.getState().panes;
  pane?.answerBy(remote);
  pane?.send("Hello");
  if (pane) await idle(pane);
  const forked = pane && workspace.forkPane(pane, 0);
  expect(forked?.store.getState().answerer).toEqual(remote);
  const text = await exportChats(workspace);
  expect(text).toContain(remote.baseUrl);
  expect(text).not.toContain("secret");

  // In a browser that has no such connection, nobody is contacted.
  connections.remove(remote.baseUrl);
  await importChats(workspace, text);
  const imported = workspace.store.getState().panes.at(-1);
  const numRequests = server.requests.length;
  imported?.send("Again");
  if (imported) await idle(imported);
  expect(imported?.store.getState()).toMatchObject({ draft: "Again", answerer: remote });
  expect(imported?.store.getState().note?.body).toContain("no connection to");
  expect(server.requests).toHaveLength(numRequests);
});

it("sends new questions to the connection for long queues, once the queue is long", async () => {
  const { control, connections, requestStats, step, openPane, remote } = openPage();
  await control.start();
  connections.spillTo({ ...remote, limitS: 3 });
  const [running, waiting, late] = [1, 2, 3].map((number) => openPane(number)) as [Pane, Pane, Pane];
  // Answers take 4 seconds, so the next but one would wait for 8.
  const times = { arrivalMs: 0, scheduledMs: 0, firstTokenMs: 1, finishedMs: 4000 };
  const counts = {
    promptTokens: 1,
    outputTokens: 1,
    maxTokens: 1,
    cachedTokens: 0,
    numPreemptions: 0,
    draftTokens: 0,
    acceptedTokens: 0,
  };
  requestStats.addRequest({ requestId: "x", index: 0, status: "finished", finishReason: "stop", ...times, ...counts });
  running.send("One");
  waiting.send("Two");
  expect(requestStats.expectedWaitS()).toBe(0);
  await step(0);
  expect([phaseOf(running), phaseOf(waiting)]).toEqual(["queued", "queued"]);
  requestStats.addStep(sampleStep({ numRunning: 1, numWaiting: 1 }));
  expect(requestStats.expectedWaitS()).toBe(8);
  late.send("Three");
  expect(late.store.getState().note).toMatchObject({ title: "Answered elsewhere", kind: "info" });
  await idle(late);
  expect(lastTurn(late)).toMatchObject({ answer: TOLD, by: `m at ${server.host}` });
  expect(server.requests).toHaveLength(1);
  connections.spillTo({ ...remote, limitS: 8 });
  late.send("Four");
  expect(phaseOf(late)).toBe("queued");
  expect(lastTurn(late)).not.toHaveProperty("by");
});

it("continues an answer in the long queue where the connection for long queues can't continue any", async () => {
  const { control, connections, requestStats, openPane, remote } = openPage();
  await control.start();
  connections.spillTo({ ...remote, limitS: 0 });
  vi.spyOn(requestStats, "expectedWaitS").mockReturnValue(8);
  const turns = [{ id: 1, question: "One", answer: "So far", end: "length" as const }];
  const pane = openPane(1, { title: null, settings: {}, turns, contextStart: 0, draft: "" });
  pane.continueAnswer();
  expect(phaseOf(pane)).toBe("queued");
  expect(lastTurn(pane)).not.toHaveProperty("by");
});
