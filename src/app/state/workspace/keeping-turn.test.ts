import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeLocks } from "../../../../tests/app/fake-locks.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { createAppState } from "../app/app-state.ts";
import type { ClosedChat } from "../history/closed-chat.ts";
import type { ChatMoves } from "../history/closed-chats.ts";
import { KeepingTurn } from "./keeping-turn.ts";
import { parseSavedWorkspace, type SavedWorkspace } from "./saved-workspace.ts";

let locks: FakeLocks;
let record: SavedWorkspace | null;
let closed: Map<string, ClosedChat>;
beforeEach(() => {
  vi.useFakeTimers();
  locks = new FakeLocks();
  record = null;
  closed = new Map();
});
afterEach(() => {
  vi.useRealTimers();
});

const storage = {
  load: async () => ({
    saved: record && parseSavedWorkspace(structuredClone(record)),
    left: [],
    status: "ok" as const,
  }),
  saveAside: async (_: SavedWorkspace, moves: ChatMoves) => move(moves),
  clearAside: async () => undefined,
  leave: () => undefined,
  storedChats: () => Promise.reject(new Error("Nobody looks.")),
  onDeleted: () => undefined,
  save: async (workspace: SavedWorkspace, moves: ChatMoves) => {
    record = structuredClone(workspace);
    move(moves);
  },
};
function move(moves: ChatMoves) {
  for (const key of moves.gone) closed.delete(key);
  for (const [key, chat] of moves.closed) closed.set(key, chat);
}
/** What has changed is written half a second later. */
const written = () => vi.advanceTimersByTimeAsync(1000);

async function openTab() {
  const engine = new FakeEngine({ answer: () => "It is so." });
  const app = createAppState({
    createEngine: async () => engine,
    models: new FakeModels(),
    choice: { model: "fake" },
    sampling: {},
    kept: { storage, loaded: await storage.load() },
    scheduleFlush: (flush) => flush(),
    now: () => performance.now(),
  });
  const { workspace, settings } = app;
  const keeper = app.keeper!;
  const { locks: tabLocks, close } = locks.tab();
  new KeepingTurn(keeper, tabLocks).take();
  await written();
  const panes = () => workspace.store.getState().panes;
  const drafts = () => panes().map((pane) => pane.store.getState().draft);
  const status = () => keeper.store.getState();
  /** As the browser does: the page writes what is left, then its locks are free. */
  const leave = async () => {
    keeper.flush();
    close();
    await written();
  };
  return { workspace, settings, engine, keeper, panes, drafts, status, leave };
}
const closedDrafts = () => [...closed.values()].map(({ chat }) => chat.draft);
const keptDrafts = () => record?.panes.map(({ draft }) => draft);

it("the older tab keeps the chats again when the newer is closed, and has what that wrote", async () => {
  const older = await openTab();
  older.panes()[0]!.setDraft("one");
  await written();
  const newer = await openTab();
  expect([older.status(), newer.status()]).toEqual(["elsewhere", "kept"]);
  newer.panes()[0]!.setDraft("two");
  newer.workspace.addPane()!.setDraft("three");
  newer.settings.set("seed", 3);
  await newer.leave();
  expect(older.status()).toBe("kept");
  expect(older.drafts()).toEqual(["two", "three"]);
  expect(older.settings.store.getState()).toEqual({ seed: 3 });
  expect(older.workspace.addPane()!.number).toBe(3);
  older.panes()[0]!.setDraft("four");
  await written();
  expect(keptDrafts()).toEqual(["four", "three", ""]);
});

it("what was said in the older one meanwhile is kept, where the newer has changed nothing", async () => {
  const older = await openTab();
  older.panes()[0]!.setDraft("one");
  await written();
  const newer = await openTab();
  older.panes()[0]!.setDraft("two");
  await written();
  expect(keptDrafts()).toEqual(["one"]);
  await newer.leave();
  expect(older.status()).toBe("kept");
  expect(keptDrafts()).toEqual(["two"]);
});

it("chats of both are there where both have changed some, and nothing that is under way breaks off", async () => {
  const older = await openTab();
  older.panes()[0]!.setDraft("one");
  older.workspace.addPane()!.setDraft("two");
  await written();
  const newer = await openTab();
  const [requested] = older.panes();
  requested!.sendDraft();
  newer.panes()[0]!.setDraft("three");
  newer.workspace.addPane()!.setDraft("four");
  await newer.leave();
  expect(older.status()).toBe("kept");
  expect(older.panes()[0]).toBe(requested);
  expect(requested!.store.getState().phase).toBe("queued");
  expect(older.drafts()).toEqual(["", "two", "three", "four"]);
  expect(record?.panes.map(({ turns, draft }) => [...turns.map(({ question }) => question), draft])).toEqual([
    ["one", ""],
    ["two"],
    ["three"],
    ["four"],
  ]);
});

it("lists the chats of the newer for which there is no room", async () => {
  const older = await openTab();
  older.panes()[0]!.setDraft("0");
  for (let number = 1; number < 15; number++) older.workspace.addPane()!.setDraft(`${number}`);
  await written();
  const newer = await openTab();
  newer.panes()[0]!.setDraft("new");
  newer.workspace.addPane()!.setDraft("newer");
  older.panes()[0]!.setDraft("old");
  await newer.leave();
  expect(older.status()).toBe("kept");
  expect(older.drafts().slice(-2)).toEqual(["14", "new"]);
  expect(keptDrafts()).toEqual(older.drafts());
  expect(closedDrafts()).toEqual(["newer"]);
  expect(older.workspace.undoList.store.getState().toast?.title).toBe("A chat of another tab is in the list of chats");
});

it("loses no chat that either tab has closed, even if it is the same one with other words", async () => {
  const older = await openTab();
  for (const draft of ["one", "two", "three"]) older.workspace.addPane()!.setDraft(draft);
  await written();
  const newer = await openTab();
  older.panes()[1]!.setDraft("one and more");
  for (const tab of [older, newer]) tab.workspace.closePane(tab.panes()[1]!);
  older.workspace.closePane(older.panes()[2]!);
  await written();
  expect(closedDrafts().toSorted()).toEqual(["one", "one and more", "three"]);
  newer.workspace.undoList.undo();
  await written();
  expect(closedDrafts().toSorted()).toEqual(["one and more", "three"]);
  await newer.leave();
  expect(older.status()).toBe("kept");
  expect([...older.drafts(), ...closedDrafts()]).toEqual(expect.arrayContaining(["two", "one and more", "three"]));
});

it("takes over when it is asked to, with what the other wrote; of three the one that is left keeps them", async () => {
  const [first, second] = [await openTab(), await openTab()];
  second.panes()[0]!.setDraft("two");
  await written();
  first.keeper.takeOver();
  await written();
  expect([first.status(), second.status()]).toEqual(["kept", "elsewhere"]);
  expect(first.drafts()).toEqual(["two"]);
  const third = await openTab();
  expect([first.status(), second.status(), third.status()]).toEqual(["elsewhere", "elsewhere", "kept"]);
  third.panes()[0]!.setDraft("three");
  await third.leave();
  await first.leave();
  expect([second.status(), second.drafts()]).toEqual(["kept", ["three"]]);
});

it("writes on where a page may have no locks", async () => {
  const { keeper } = await openTab();
  const denied = { request: () => Promise.reject(new DOMException("No.", "SecurityError")) };
  new KeepingTurn(keeper, denied as Pick<LockManager, "request">).take();
  await written();
  expect(keeper.store.getState()).toBe("kept");
});
