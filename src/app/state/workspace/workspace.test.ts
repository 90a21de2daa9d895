import { beforeEach, describe, expect, it, vi } from "vitest";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { openPanes } from "../../../../tests/app/open-panes.ts";
import { EngineControl } from "../engine/engine-control.ts";
import { exportChats, importChats, type ImportProgress } from "./export-chats.ts";
import { Connections } from "../connections/connections.ts";
import type { PaneContext } from "../chat/pane.ts";
import { RequestStats } from "../chat/request-stats.ts";
import type { Settings } from "../settings/settings.ts";
import { createStore } from "../store.ts";
import type { ChatStorage } from "./chat-storage.ts";
import { Chats } from "./chats.ts";
import { MAX_PANES } from "./saved-workspace.ts";
import { Workspace } from "./workspace.ts";

let workspace: Workspace;
let context: PaneContext;
beforeEach(() => {
  const scheduleFlush = (flush: () => void) => flush();
  const engine = new EngineControl({
    createEngine: async () => new FakeEngine(),
    choice: { model: "fake" },
    scheduleFlush,
    now: () => 0,
  });
  const settings = createStore<Settings>(() => ({}));
  const requestStats = new RequestStats();
  const connections = new Connections({ observer: requestStats });
  context = { engine, requestStats, settings, addressSettings: {}, connections, scheduleFlush, announce: () => {} };
  workspace = new Workspace(context);
});

/** The chats in no pane. */
const closed = () => [...workspace.chats.unsaved.getState().values()].filter((chat) => chat !== null);
const recordsOf = (chats: ReturnType<typeof closed>) =>
  chats.map((chat) => ({ chat, revision: "r", past: [], savedMs: 0 }));
const numbers = () => workspace.store.getState().panes.map((pane) => pane.number);
function close(number: number) {
  const pane = workspace.store.getState().panes.find((candidate) => candidate.number === number);
  return pane ? workspace.closePane(pane) : null;
}

it("opens up to sixteen panes, numbered", () => {
  while (workspace.addPane()) expect(numbers().length).toBeLessThanOrEqual(MAX_PANES);
  expect(numbers()).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
});

it("gives a closed pane's number out again last", () => {
  workspace.addPane();
  close(1);
  expect(workspace.addPane()?.number).toBe(3);
  while (numbers().length < MAX_PANES) workspace.addPane();
  expect(numbers().at(-1)).toBe(1);
});

it("shows the neighbour when the pane in view is closed", () => {
  workspace.addPane();
  workspace.addPane();
  workspace.select(2);
  expect(close(2)?.number).toBe(3);
  expect(workspace.store.getState().current).toBe(3);
  expect(close(3)?.number).toBe(1);
});

it("opens a new pane when the last one is closed", () => {
  expect(close(1)?.number).toBe(2);
  expect(numbers()).toEqual([2]);
  expect(workspace.store.getState().current).toBe(2);
});

const turns = ["One?", "Two?", "Three?"].map((question, id) => ({
  id,
  question,
  answer: "Yes.",
  end: "stop" as const,
}));
const saved = (...panes: readonly number[]) => ({
  app: "chorus" as const,
  version: 1 as const,
  current: panes.at(-1)!,
  shared: { temperature: 0.5 },
  panes: panes.map((number) => ({
    number,
    title: null,
    settings: { seed: number },
    turns,
    contextStart: 0,
    draft: "",
  })),
});
const panes = () => workspace.store.getState().panes;

it("is opened as it was, and its numbers are taken", () => {
  workspace = new Workspace(context, saved(3, 1));
  expect(numbers()).toEqual([3, 1]);
  expect(workspace.store.getState().current).toBe(1);
  expect(workspace.addPane()?.number).toBe(2);
});

describe("a pane beside a pane", () => {
  beforeEach(() => {
    workspace = new Workspace(context, saved(1, 2));
  });

  it("is the same chat where it is duplicated", () => {
    expect(workspace.duplicatePane(panes()[0]!)?.number).toBe(3);
    expect(numbers()).toEqual([1, 3, 2]);
    expect(workspace.store.getState().current).toBe(3);
    const [original, copy] = panes().map((pane) => pane.toSaved());
    expect({ ...copy, id: original!.id }).toEqual(original);
    expect(copy!.id).not.toBe(original!.id);
  });

  it("has the conversation up to an answer where it is forked", () => {
    workspace.forkPane(panes()[0]!, 1);
    expect(panes()[1]!.toSaved()).toMatchObject({ turns: turns.slice(0, 2), settings: { seed: 1 } });
    expect(panes()[0]!.toSaved().turns).toEqual(turns);
  });

  it("changes places with it", () => {
    workspace.addPane();
    workspace.movePane(panes()[0]!, 1);
    expect(numbers()).toEqual([2, 1, 3]);
    workspace.movePaneTo(panes()[2]!, 0);
    expect(numbers()).toEqual([3, 2, 1]);
    workspace.movePane(panes()[0]!, -1);
    workspace.movePane(panes()[2]!, 1);
    expect(numbers()).toEqual([3, 2, 1]);
  });
});

describe("what was done to panes", () => {
  const undo = () => workspace.undoList.undo();
  const toast = () => workspace.undoList.store.getState().toast?.title ?? null;

  it("is undone: a pane that was closed is at its place again, with its number, chat and settings", () => {
    workspace = new Workspace(context, saved(3, 1, 2));
    const before = workspace.toSaved().panes;
    close(1);
    close(3);
    expect([numbers(), toast()]).toEqual([[2], "Pane 3 closed"]);
    undo();
    expect([numbers(), toast()]).toEqual([[3, 2], null]);
    undo();
    expect(workspace.toSaved().panes).toEqual(before);
    expect(workspace.store.getState().current).toBe(1);
    undo();
    expect(numbers()).toEqual([3, 1, 2]);
  });

  it("leaves what was closed or cleared among the closed chats, until it is undone", () => {
    workspace = new Workspace(context, saved(1, 2));
    workspace.addPane();
    close(3);
    expect(closed()).toEqual([]);
    close(2);
    workspace.newChat(panes()[0]!);
    expect(closed().map(({ turns: { length } }) => length)).toEqual([3, 3]);
    undo();
    undo();
    expect(closed()).toEqual([]);
  });

  it("is undone: the last pane comes in the place of the empty one, unless that was used", () => {
    workspace = new Workspace(context, saved(1));
    close(1);
    expect(numbers()).toEqual([2]);
    undo();
    expect(numbers()).toEqual([1]);
    close(1);
    panes()[0]!.setDraft("Mine");
    undo();
    expect(panes().map((pane) => pane.toSaved().draft)).toEqual(["", "Mine"]);
    // An empty pane of one's own stays.
    workspace = new Workspace(context, saved(1));
    workspace.addPane();
    close(1);
    undo();
    expect(numbers()).toEqual([1, 2]);
  });

  it("can't be undone where there is no room any more, and that is said", () => {
    workspace = new Workspace(context, saved(1, 2));
    close(1);
    while (workspace.addPane());
    undo();
    expect(numbers()).toHaveLength(16);
    expect(toast()).toBe("“Pane 1 closed” can’t be undone any more");
  });

  it("can't be undone where the chat was opened from the list or deleted since", () => {
    workspace = new Workspace(context, saved(1, 2));
    const numOpen = () => panes().filter((pane) => pane.store.getState().turns.length > 0).length;
    const openFromList = () => {
      workspace.reopen(closed()[0]!.id, null, true);
    };
    close(1);
    openFromList();
    undo();
    expect([numOpen(), toast()]).toEqual([2, "“Pane 1 closed” can’t be undone any more"]);
    workspace.newChat(panes()[0]!);
    openFromList();
    workspace.addPane();
    undo();
    expect([numOpen(), toast()]).toEqual([
      2,
      "“New chat: the one before is in the list of chats” can’t be undone any more",
    ]);
    const [first, second] = panes();
    workspace.newChat(second!);
    workspace.closePane(first!);
    workspace.deleteForGood(recordsOf(closed()));
    undo();
    expect([numOpen(), toast()]).toEqual([0, "“Pane 2 closed” can’t be undone any more"]);
    undo();
    expect([numOpen(), toast()]).toEqual([
      0,
      "“New chat: the one before is in the list of chats” can’t be undone any more",
    ]);
  });

  it("can't be undone where another tab's chats came with this one among them", () => {
    workspace = new Workspace(context, saved(1));
    const chat = panes()[0]!.toSaved();
    close(1);
    workspace.addChats([chat]);
    undo();
    expect(panes().map((pane) => pane.store.getState().id)).toEqual([chat.id]);
  });

  it("is undone: the chat before a new one comes back with its name, unless another was begun", () => {
    workspace = new Workspace(context, saved(1));
    const [pane] = panes();
    pane!.rename("Mine");
    const { id } = pane!.store.getState();
    workspace.newChat(pane!);
    expect(pane!.store.getState()).toMatchObject({ turns: [], title: null, settings: { seed: 1 } });
    expect(pane!.store.getState().id).not.toBe(id);
    undo();
    expect(pane!.store.getState()).toMatchObject({ id, turns, title: "Mine" });
    workspace.newChat(pane!);
    pane!.send("Another?");
    undo();
    expect(pane!.store.getState().turns).toMatchObject([{ question: "Another?" }]);
  });

  it("is undone: answers that were regenerated and questions that were edited, in panes that were closed, too", async () => {
    const { control, step, ...opened } = openPanes();
    workspace = new Workspace(opened.context, saved(1));
    await control.start();
    const path = () =>
      panes()[0]!
        .store.getState()
        .turns.map(({ question, id }) => `${question}${id}`);
    panes()[0]!.regenerate();
    await step();
    panes()[0]!.edit(1, "Deux?");
    await step();
    expect(path()).toEqual(["One?0", "Deux?4"]);
    close(1);
    undo();
    undo();
    expect(path()).toEqual(["One?0", "Two?1", "Three?3"]);
    panes()[0]!.edit(0, "Un?");
    undo();
    expect(path()).toEqual(["One?0", "Two?1", "Three?3"]);
    undo();
    expect(path()).toEqual(["One?0", "Two?1", "Three?2"]);
  });

  it("leaves a chat that was begun after the clearing none of what is known of the cleared one", async () => {
    const { control, step, ...opened } = openPanes();
    workspace = new Workspace(opened.context, saved(1));
    await control.start();
    panes()[0]!.memory.branches.set(0, { word: "No", cost: null });
    workspace.newChat(panes()[0]!);
    close(1);
    undo();
    panes()[0]!.send("Another?");
    await step();
    const { memory, store } = panes()[0]!;
    expect(store.getState().turns).toMatchObject([{ question: "Another?" }]);
    expect(memory.branches.has(store.getState().turns[0]!.id)).toBe(false);
    expect(memory.branches.has(0)).toBe(true);
  });

  it("is forgotten where it did not happen: an answer that was stopped before its first word", async () => {
    const { control, ...opened } = openPanes();
    workspace = new Workspace(opened.context, saved(1));
    await control.start();
    panes()[0]!.regenerate();
    expect(toast()).toBe("Answer regenerated");
    panes()[0]!.stop();
    expect(workspace.undoList.store.getState()).toEqual({ undoables: [], toast: null });
  });
});

describe("a file of chats", () => {
  it("opens them again beside the open ones, and replaces empty panes", async () => {
    workspace = new Workspace(context, saved(1, 2));
    const file = await exportChats(workspace);
    workspace = new Workspace(context);
    workspace.addPane()?.setDraft("Mine");
    expect(await importChats(workspace, file)).toEqual({ numOpened: 2, numListed: 0 });
    expect(panes().map((pane) => pane.toSaved().draft)).toEqual(["Mine", "", ""]);
    expect(panes()[1]!.toSaved()).toMatchObject({ turns, settings: { seed: 1 } });
    expect(numbers()).toEqual([2, 1, 3]);
  });

  it("carries variants, and closed chats, which are in the list again", async () => {
    const inactiveTurns = [{ ...turns[1]!, id: 7, answer: "No.", after: 0 }];
    const {
      panes: [pane, other],
      ...rest
    } = saved(1, 2);
    const stored = { ...pane!, id: "stored", draft: "Stored" };
    const storage = { readAll: async () => recordsOf([stored]) } as unknown as ChatStorage;
    const two = { ...rest, panes: [pane!, other!].map((each) => ({ ...each, inactiveTurns })) };
    workspace = new Workspace(context, two, new Chats(storage));
    close(2);
    const file = await exportChats(workspace);
    workspace = new Workspace(context);
    expect(await importChats(workspace, file)).toEqual({ numOpened: 1, numListed: 2 });
    expect(panes()[0]!.toSaved()).toMatchObject({ turns, inactiveTurns });
    const listed = closed();
    expect(listed).toMatchObject([{ draft: "Stored" }, { turns, inactiveTurns }]);
    expect(new Set(listed.map(({ id }) => id)).size).toBe(2);
  });

  it("carries what was set for all panes as each chat's own", async () => {
    await importChats(workspace, JSON.stringify(saved(5)));
    expect(panes()[0]!.toSaved().settings).toEqual({ temperature: 0.5, seed: 5 });
  });

  it("has its chats in the list of chats where there are no panes for them, and can be undone", async () => {
    workspace = new Workspace(context, saved(...Array.from({ length: 15 }, (_, index) => index + 1)));
    workspace.addPane()?.set("seed", 7);
    const before = workspace.toSaved().panes;
    expect(await importChats(workspace, JSON.stringify(saved(1, 2, 3)))).toEqual({ numOpened: 1, numListed: 2 });
    expect(panes()[15]!.toSaved()).toMatchObject({ settings: { temperature: 0.5, seed: 1 } });
    expect(closed()).toHaveLength(2);
    panes()[15]!.setDraft("Changed since");
    workspace.undoList.undo();
    expect(workspace.toSaved().panes).toEqual(before);
    expect(closed().map(({ draft }) => draft)).toEqual(["Changed since"]);
  });

  it("that is no JSON or is damaged is refused by name, and changes nothing", async () => {
    workspace = new Workspace(context, saved(...Array.from({ length: 15 }, (_, index) => index + 1)));
    const before = numbers();
    const refused = (text: string) => importChats(workspace, text).catch((error: unknown) => error);
    expect(await refused("{")).toMatchObject({ code: "invalid_value", message: "The file isn't JSON." });
    for (const other of ["[]", "null", "7", '{"mapping":{}}', '{"app":"other"}'])
      expect(await refused(other)).toMatchObject({ message: "This file is not an export of Chorus." });
    const [damaged] = saved(1).panes;
    expect(
      await refused(JSON.stringify({ ...saved(1), panes: [{ ...damaged, turns: [{ id: 0, question: 7 }] }] })),
    ).toMatchObject({
      param: "panes[0].turns[0].question",
    });
    expect(numbers()).toEqual(before);
  });

  it("of thousands is read in parts: the page is never held up, and hears how far it is; a damaged one adds none", async () => {
    const [pane] = saved(1).panes;
    const long = { ...pane!, turns: [{ ...turns[0]!, answer: "word ".repeat(2000) }] };
    const file = {
      ...saved(1),
      closed: Array.from({ length: 2000 }, (_, index) => ({ ...long, id: `chat ${index}` })),
    };
    const text = JSON.stringify(file);
    const parts: number[] = [];
    // A millisecond a look: a fast machine may read all of it in one part.
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => ++nowMs);
    let numTasks = 0;
    const count = () => {
      numTasks += 1;
      ticking = setImmediate(count);
    };
    let ticking = setImmediate(count);
    const progress = vi.fn<(progress: ImportProgress) => void>(({ numRead }) => parts.push(numRead));
    const found = await importChats(workspace, text, progress).finally(() => clock.mockRestore());
    expect(found).toEqual({ numOpened: 1, numListed: 2000 });
    clearImmediate(ticking);
    expect(numTasks).toBeGreaterThan(1);
    expect(parts.length).toBeGreaterThan(100);
    expect(progress.mock.calls.every(([{ numChats }]) => numChats === 2001)).toBe(true);
    expect(parts).toEqual(parts.toSorted((a, b) => a - b));
    expect(closed()).toHaveLength(2000);

    workspace = new Workspace(context);
    const damaged = JSON.stringify({ ...file, closed: [...file.closed, { ...long, draft: 7 }] });
    await expect(importChats(workspace, damaged)).rejects.toMatchObject({ param: "closed[2000].draft" });
    expect(closed()).toEqual([]);
    expect(panes()).toHaveLength(1);
  });
});
