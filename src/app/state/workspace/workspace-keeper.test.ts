import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { createAppState } from "../app/app-state.ts";
import type { ChatMoves } from "../history/closed-chats.ts";
import type { SavedPane, SavedWorkspace } from "./saved-workspace.ts";
import type { LoadedWorkspace, WorkspaceStorage } from "./workspace-storage.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open(loaded: Partial<LoadedWorkspace> = {}, save = async () => {}) {
  const written: SavedWorkspace[] = [];
  const aside: SavedWorkspace[] = [];
  /** What was stored of closed chats, save by save. */
  const moved: ChatMoves[] = [];
  const storage: WorkspaceStorage = {
    load: async () => ({ saved: written.at(-1) ?? null, left: [], status: "ok" }),
    save: async (workspace, moves) => {
      await save();
      written.push(workspace);
      moved.push(moves);
    },
    saveAside: async (workspace, moves) => void [aside.push(workspace), moved.push(moves)],
    clearAside: async () => void (aside.length = 0),
    leave: () => undefined,
    storedChats: () => Promise.reject(new Error("Nobody looks.")),
    onDeleted: () => undefined,
  };
  const engine = new FakeEngine({ answer: () => "a b c d" });
  const app = createAppState({
    createEngine: async () => engine,
    models: new FakeModels(),
    choice: { model: "fake" },
    sampling: {},
    kept: { storage, loaded: { saved: null, left: [], status: "ok", ...loaded } },
    scheduleFlush: (flush) => flush(),
    now: () => performance.now(),
  });
  return { ...app, engine, storage, written, aside, moved, keeper: app.keeper! };
}
const closedDrafts = ({ closed }: ChatMoves) => [...closed.values()].map(({ chat }) => chat.draft);

it("writes once for many changes: drafts, titles, settings, panes, text as it comes", async () => {
  const { workspace, settings, engine, written } = open();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written).toEqual([]);
  const [pane] = workspace.store.getState().panes;
  pane!.setDraft("H");
  pane!.setDraft("Hi");
  pane!.rename("Mine");
  settings.set("seed", 3);
  workspace.addPane()?.setDraft("Two");
  await vi.advanceTimersByTimeAsync(1000);
  expect(written).toHaveLength(1);
  expect(written[0]).toMatchObject({
    shared: { seed: 3 },
    current: 2,
    panes: [{ number: 1, title: "Mine", draft: "Hi" }, { draft: "Two" }],
  });
  pane!.sendDraft();
  await vi.advanceTimersByTimeAsync(0);
  engine.step();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes[0]).toMatchObject({ turns: [{ answer: "a", end: null }], draft: "" });
});

it("writes what is left when the page goes, and nothing where nothing has changed", async () => {
  const { workspace, keeper, written } = open();
  keeper.flush();
  workspace.store.getState().panes[0]!.setDraft("Hi");
  keeper.flush();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written).toHaveLength(1);
});

it("gives the storage all it has before it leaves the rest to the next page", async () => {
  const given: string[] = [];
  const { workspace, keeper, storage } = open({}, async () => void given.push("save"));
  storage.leave = () => given.push("leave");
  workspace.store.getState().panes[0]!.setDraft("Hi");
  keeper.leave();
  keeper.leave();
  expect(given).toEqual(["save", "leave", "leave"]);
});

it("forgets a pane that was closed", async () => {
  const { workspace, written } = open();
  const extra = workspace.addPane();
  workspace.closePane(extra!);
  await vi.advanceTimersByTimeAsync(1000);
  extra!.setDraft("late");
  await vi.advanceTimersByTimeAsync(1000);
  expect(written).toHaveLength(1);
});

it("leaves the writing to the tab that has taken over", async () => {
  const { workspace, keeper, written } = open();
  workspace.addPane();
  keeper.handOver();
  workspace.addPane();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written).toEqual([]);
  expect(keeper.store.getState()).toBe("elsewhere");
});

it("says so where nothing can be kept, and where what was there is damaged", async () => {
  expect(open({ status: "damaged" }).keeper.store.getState()).toBe("damaged");
  expect(open({ status: "unavailable" }).keeper.store.getState()).toBe("not-kept");
  const full = open({}, () => Promise.reject(new Error("full")));
  full.workspace.addPane();
  await vi.advanceTimersByTimeAsync(1000);
  expect(full.keeper.store.getState()).toBe("not-kept");
});

it("saves again as soon as it can, with all that was said meanwhile", async () => {
  let isFull = true;
  const { workspace, keeper, written } = open({}, () =>
    isFull ? Promise.reject(new Error("full")) : Promise.resolve(),
  );
  const statuses: string[] = [];
  keeper.store.subscribe((status) => statuses.push(status));
  const [pane] = workspace.store.getState().panes;
  pane!.setDraft("one");
  await vi.advanceTimersByTimeAsync(5000);
  pane!.setDraft("two");
  await vi.advanceTimersByTimeAsync(60_000);
  // It stays said until it is over.
  expect(new Set(statuses)).toEqual(new Set(["not-kept"]));
  isFull = false;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(keeper.store.getState()).toBe("kept");
  expect(written.at(-1)?.panes).toMatchObject([{ draft: "two" }]);
  pane!.setDraft("three");
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes).toMatchObject([{ draft: "three" }]);
});

it("does not overwrite what it could not read, and opens that beside what was said meanwhile", async () => {
  const { workspace, keeper, storage, written } = open({ status: "unavailable" });
  const earlier = workspace.toSaved();
  workspace.store.getState().panes[0]!.setDraft("new");
  let isBlocked = true;
  const panes = [{ ...earlier.panes[0]!, draft: "earlier" }];
  storage.load = async () =>
    isBlocked
      ? { saved: null, left: [], status: "unavailable" }
      : { saved: { ...earlier, panes }, left: [], status: "ok" };
  keeper.flush();
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written).toEqual([]);
  isBlocked = false;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(written.at(-1)?.panes.map(({ draft }) => draft)).toEqual(["new", "earlier"]);
  expect(keeper.store.getState()).toBe("kept");
});

it("writes everything again when the database was deleted", async () => {
  const { workspace, storage, written } = open();
  workspace.store.getState().panes[0]!.setDraft("said");
  await vi.advanceTimersByTimeAsync(1000);
  written.length = 0;
  storage.onDeleted();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes).toMatchObject([{ draft: "said" }]);
});

it("saves aside while another tab keeps the chats, until it keeps them again", async () => {
  const { workspace, keeper, written, aside } = open();
  workspace.store.getState().panes[0]!.setDraft("before");
  keeper.handOver();
  await vi.advanceTimersByTimeAsync(1000);
  expect(aside.at(-1)?.panes).toMatchObject([{ draft: "before" }]);
  workspace.store.getState().panes[0]!.setDraft("after");
  keeper.flush();
  await vi.advanceTimersByTimeAsync(0);
  expect(aside.at(-1)?.panes).toMatchObject([{ draft: "after" }]);
  expect(written).toEqual([]);
  await keeper.takeBack();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes).toMatchObject([{ draft: "after" }]);
  expect(aside).toEqual([]);
});

it("stores a closed chat with the panes that it left, and takes it out with those it came back into", async () => {
  const { workspace, written, moved } = open();
  workspace.addPane()?.setDraft("two");
  await vi.advanceTimersByTimeAsync(1000);
  workspace.closePane(workspace.store.getState().panes[1]!);
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes).toHaveLength(1);
  expect(moved.map(closedDrafts)).toEqual([[], ["two"]]);
  const [key] = moved[1]!.closed.keys();
  workspace.undoList.undo();
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes).toHaveLength(2);
  expect(moved[2]).toEqual({ closed: new Map(), gone: new Set([key]) });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(written).toHaveLength(3);
});

it("stores a closed chat once there is space, and one of a tab that does not save", async () => {
  let isFull = true;
  const { workspace, keeper, moved } = open({}, () => (isFull ? Promise.reject(new Error("full")) : Promise.resolve()));
  workspace.store.getState().panes[0]!.setDraft("one");
  workspace.closePane(workspace.store.getState().panes[0]!);
  await vi.advanceTimersByTimeAsync(5000);
  expect(keeper.store.getState()).toBe("not-kept");
  isFull = false;
  await vi.advanceTimersByTimeAsync(31_000);
  expect(moved.flatMap(closedDrafts)).toEqual(["one"]);
  keeper.handOver();
  workspace.store.getState().panes[0]!.setDraft("two");
  workspace.closePane(workspace.store.getState().panes[0]!);
  await vi.advanceTimersByTimeAsync(1000);
  expect(moved.flatMap(closedDrafts)).toEqual(["one", "two"]);
});

it("stores thousands of imported chats by and by", async () => {
  const { workspace, moved } = open();
  const [chat] = workspace.toSaved().panes as [SavedPane];
  workspace.addChats(Array.from({ length: 266 }, (_, index) => ({ ...chat, id: `${index}`, draft: `${index}` })));
  await vi.advanceTimersByTimeAsync(5000);
  expect(moved.map(({ closed }) => closed.size)).toEqual(Array(10).fill(25));
  expect(new Set(moved.flatMap(closedDrafts)).size).toBe(250);
});

it("stores what was closed last first: the panes that are stored with it don't have it any more", async () => {
  const { workspace, written, moved } = open();
  const [chat] = workspace.toSaved().panes as [SavedPane];
  workspace.addChats(Array.from({ length: 266 }, (_, index) => ({ ...chat, id: `${index}`, draft: `${index}` })));
  const [pane] = workspace.store.getState().panes;
  pane!.setDraft("Closed by hand");
  workspace.closePane(pane!);
  await vi.advanceTimersByTimeAsync(500);
  expect(written).toHaveLength(1);
  expect(closedDrafts(moved[0]!)).toContain("Closed by hand");
});

it("opens what a closed tab has left, where it is not known", async () => {
  const { workspace } = open();
  const [pane] = workspace.toSaved().panes;
  const saved = { ...workspace.toSaved(), panes: [{ ...pane!, draft: "kept" }] };
  const left = [
    { ...pane!, draft: "kept" },
    { ...pane!, draft: "left" },
  ];
  const { written } = open({ saved, left });
  await vi.advanceTimersByTimeAsync(1000);
  expect(written.at(-1)?.panes.map(({ draft }) => draft)).toEqual(["kept", "left"]);
});
