import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { openPanes, settle } from "../../../../tests/app/open-panes.ts";
import type { Pane } from "../chat/pane.ts";
import type { SavedChat } from "../workspace/saved-workspace.ts";
import { Workspace } from "../workspace/workspace.ts";
import { groupChats } from "./chat-groups.ts";
import { ChatList } from "./chat-list.ts";
import type { ChatRecord } from "../workspace/chat-record.ts";
import type { ChatStorage } from "../workspace/chat-storage.ts";
import { Chats } from "../workspace/chats.ts";
import { summaryOf } from "./chat-summary.ts";
import * as words from "./words.ts";

const NOON = new Date("2026-11-22T12:00").getTime();
const chat = (question: string, day: string): SavedChat & { id: string } => ({
  id: question,
  title: null,
  settings: {},
  turns: [{ id: 0, question, answer: `About ${question}`, end: "stop" }],
  contextStart: 0,
  draft: "",
  askedMs: new Date(`${day}T12:00`).getTime(),
});

let workspace: Workspace;
let list: ChatList;
let stored: Map<string, ChatRecord>;
/** As IndexedDB has them. */
const storage = {
  readAll: async () => [...stored.values()],
  read: async (id: string) => stored.get(id) ?? null,
} as unknown as ChatStorage;
const record = (each: SavedChat & { id: string }): ChatRecord => ({
  chat: each,
  revision: "r",
  past: [],
  savedMs: NOON,
});
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now: NOON });
  workspace = new Workspace(openPanes().context, null, new Chats(storage));
  stored = new Map();
});
afterEach(() => {
  list.close();
  vi.useRealTimers();
});

async function open(...chats: readonly (SavedChat & { id: string })[]) {
  for (const each of chats) stored.set(each.id, record(each));
  list = new ChatList(workspace);
  await list.open();
  await settle();
}
const titles = () => list.store.getState().found.map(({ title, pane }) => (pane ? `${pane.number}: ${title}` : title));
async function search(query: Parameters<ChatList["search"]>[0]) {
  list.search(query);
  await settle();
  return titles();
}

it("has the open chats and then the closed ones, the newest first, those of this moment among them", async () => {
  workspace.addChats([chat("Open?", "2026-01-01"), chat("Closing?", "2026-11-20")]);
  workspace.addPane();
  await open(chat("Old?", "2026-11-01"), chat("New?", "2026-11-21"));
  expect(titles()).toEqual(["1: Open?", "2: Closing?", "New?", "Old?"]);
  workspace.closePane(workspace.store.getState().panes[1]!);
  await settle();
  expect(titles()).toEqual(["1: Open?", "New?", "Closing?", "Old?"]);
  workspace.undoList.undo();
  await settle();
  expect(titles()).toEqual(["1: Open?", "2: Closing?", "New?", "Old?"]);
});

it("is looked through by words and days", async () => {
  workspace.addChats([
    chat("Open bread?", "2026-11-22"),
    chat("Closed bread?", "2026-11-10"),
    chat("Cake?", "2026-11-22"),
  ]);
  workspace.closePane(workspace.store.getState().panes[1]!);
  await open(chat("Stored bread?", "2026-11-21"), chat("Stored cake?", "2026-11-21"));
  expect(await search({ text: "BRE" })).toEqual(["1: Open bread?", "Stored bread?", "Closed bread?"]);
  expect(await search({ from: "2026-11-21" })).toEqual(["1: Open bread?", "Stored bread?"]);
  expect(await search({ until: "2026-11-21" })).toEqual(["Stored bread?"]);
  expect(await search({ text: "", from: "" })).toEqual(["Stored bread?", "Stored cake?", "Closed bread?"]);
  expect(await search({ text: "nothing" })).toEqual([]);
});

it("opens a chat in a pane, as it was; it is not among the closed ones any more", async () => {
  await open(chat("Old?", "2026-11-01"));
  const pane = await list.openInPane(list.store.getState().found[0]!);
  expect(pane).toMatchObject({ number: 1 });
  expect(workspace.store.getState().panes[0]?.toSaved()).toEqual(chat("Old?", "2026-11-01"));
  await settle();
  expect(titles()).toEqual(["1: Old?"]);
  expect(workspace.chats.unsaved.getState().size).toBe(0);
});

it("opens a chat in the place of the current pane's, which is in the list then; beside it where that is asked, or it is busy", async () => {
  workspace.addChats([chat("First?", "2026-11-22"), chat("Second?", "2026-11-22")]);
  workspace.select(2);
  await open(chat("A?", "2026-11-03"), chat("B?", "2026-11-02"), chat("C?", "2026-11-01"));
  const openNext = async (isBeside = false) => {
    await list.openInPane(
      list.store.getState().found.find(({ pane }) => pane === null)!,
      isBeside,
    );
    await settle();
    return titles();
  };
  expect(await openNext()).toEqual(["1: First?", "2: A?", "Second?", "B?", "C?"]);
  expect(await openNext(true)).toEqual(["1: First?", "2: A?", "3: Second?", "B?", "C?"]);
  workspace.store.getState().panes[2]?.send("More?");
  expect(await openNext()).toEqual(["1: First?", "2: A?", "3: Second?", "4: B?", "C?"]);
});

it("follows the chats of the panes, and is not written anew for each word of an answer", async () => {
  await open();
  expect(titles()).toEqual([]);
  const [pane] = workspace.store.getState().panes;
  pane?.send("What?");
  await settle();
  expect(titles()).toEqual(["1: What?"]);
  pane?.rename("Mine");
  await settle();
  expect(titles()).toEqual(["1: Mine"]);
  const { found } = list.store.getState();
  pane?.setDraft("And");
  await settle();
  expect(list.store.getState().found).toBe(found);
  list.close();
  pane?.rename("Other");
  await settle();
  expect(titles()).toEqual(["1: Mine"]);
});

it("is written once where many panes change together, and not where another pane is chosen", async () => {
  workspace.addChats([chat("A?", "2026-11-22"), chat("B?", "2026-11-22"), chat("C?", "2026-11-22")]);
  await open();
  const wasWritten = vi.fn<() => void>();
  list.store.subscribe(wasWritten);
  for (const pane of workspace.store.getState().panes) pane.send("More?");
  await settle();
  const { calls } = wasWritten.mock;
  expect(calls).toHaveLength(1);
  workspace.select(1);
  await settle();
  expect(calls).toHaveLength(1);
});

it("reads again what other tabs have closed and deleted, and follows this page once", async () => {
  await open(chat("Old?", "2026-11-01"), chat("Gone?", "2026-11-02"));
  const [, old] = list.store.getState().found;
  stored.delete("Gone?");
  stored.set("New?", record(chat("New?", "2026-11-03")));
  await list.open();
  await settle();
  expect(titles()).toEqual(["New?", "Old?"]);
  // What has not changed keeps the words that were read for a search.
  expect(list.store.getState().found[1]?.words).toBe(old?.words);
  list.close();
  workspace.store.getState().panes[0]?.send("What?");
  await settle();
  expect(titles()).toEqual(["New?", "Old?"]);
});

it("keeps what is deleted while it reads deleted", async () => {
  await open(chat("Old?", "2026-11-01"), chat("New?", "2026-11-02"));
  const read = [...stored.values()];
  vi.spyOn(storage, "readAll").mockImplementationOnce(async () => {
    workspace.deleteForGood([list.store.getState().found[0]!.record]);
    stored.delete("New?");
    // As it does once that is stored.
    workspace.chats.take("New?");
    return read;
  });
  await list.open();
  await settle();
  expect(titles()).toEqual(["Old?"]);
});

it("reads the words of chats only once somebody searches", async () => {
  const folded = vi.spyOn(words, "foldedWords");
  await open(chat("Old bread?", "2026-11-01"));
  expect(folded).not.toHaveBeenCalled();
  expect(await search({ text: "bread" })).toEqual(["Old bread?"]);
  expect(folded).toHaveBeenCalledOnce();
});

it("opens a chat that was closed on this page with the tokens of its answers, and only once", async () => {
  workspace.addChats([chat("Closed?", "2026-11-22")]);
  const [before] = workspace.store.getState().panes;
  const answer = [{ id: 7, text: "About Closed?", logprob: -1, likeliest: [] }];
  before!.memory.tokens.adopt(0, { reasoning: [], answer });
  workspace.closePane(before!);
  await open();
  const pane = await list.openInPane(list.store.getState().found[0]!);
  expect(pane).toMatchObject({ number: expect.any(Number) });
  expect((pane as Pane).memory.tokens.of(0)?.answer).toEqual(answer);
  // Undoing the close now would open it twice.
  workspace.undoList.undo();
  await settle();
  expect(titles()).toHaveLength(1);
  expect(workspace.undoList.store.getState().toast?.title).toContain("can’t be undone any more");
});

it("says why a chat can't be opened: there is no room, it is gone, or damaged", async () => {
  await open(chat("Old?", "2026-11-01"), chat("Gone?", "2026-11-02"));
  const [gone, old] = list.store.getState().found;
  stored.delete("Gone?");
  expect(await list.openInPane(gone!)).toBe("This chat was deleted in another tab.");
  await settle();
  expect(titles()).toEqual(["Old?"]);
  while (workspace.addPane());
  for (const pane of workspace.store.getState().panes) pane.send("Mine");
  expect(await list.openInPane(old!)).toContain("16 panes are open already");
  expect(titles()).toContain("Old?");
});

it("deletes chats for good", async () => {
  await open(chat("Old?", "2026-11-01"), chat("New?", "2026-11-02"));
  workspace.deleteForGood([list.store.getState().found[0]!.record]);
  await settle();
  expect(titles()).toEqual(["Old?"]);
});

it("has the chats of this visit where the stored ones can't be read", async () => {
  workspace.addChats([chat("Open?", "2026-11-22"), chat("Closed?", "2026-11-22")]);
  workspace.closePane(workspace.store.getState().panes[1]!);
  vi.spyOn(storage, "readAll").mockRejectedValueOnce(new Error("No."));
  list = new ChatList(workspace);
  await list.open();
  await settle();
  expect(list.store.getState().status).toBe("unreadable");
  expect(titles()).toEqual(["1: Open?", "Closed?"]);
  expect(await search({ text: "closed" })).toEqual(["Closed?"]);
});

it("is in groups by day and month", () => {
  const days = ["2026-11-22", "2026-11-21", "2026-11-16", "2026-11-15", "2026-10-31", "2025-10-31"];
  const chats = days.map((day) => ({ ...summaryOf(record(chat(day, day))), pane: null }));
  const lines = groupChats(chats, NOON).map((line) => (line.kind === "heading" ? line.title : line.chat.title));
  expect(lines).toEqual(
    ["Today", "2026-11-22", "Yesterday", "2026-11-21", "Last 7 days", "2026-11-16"].concat([
      "November 2026",
      "2026-11-15",
      "October 2026",
      "2026-10-31",
      "October 2025",
      "2025-10-31",
    ]),
  );
});
