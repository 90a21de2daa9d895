import { beforeEach, describe, expect, it } from "vitest";
import { FakeEngine } from "../../testing/app/fake-engine.ts";
import { EngineControl } from "../engine/engine-control.ts";
import { exportChats, importChats } from "./export-chats.ts";
import type { PaneContext } from "../chat/pane.ts";
import { RequestBook } from "../chat/request-book.ts";
import { SharedSettings } from "../settings/shared-settings.ts";
import { MAX_PANES, Workspace } from "./workspace.ts";

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
  const settings = new SharedSettings();
  context = { engine, book: new RequestBook(), settings, scheduleFlush, announce: () => {} };
  workspace = new Workspace(context);
});

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
  panes: panes.map((number) => ({ number, title: null, settings: { seed: number }, turns, firstSent: 0, draft: "" })),
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
    expect({ ...panes()[1]!.toSaved(), number: 1 }).toEqual(panes()[0]!.toSaved());
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

describe("a file of chats", () => {
  it("opens them again beside the open ones, and replaces empty panes", () => {
    workspace = new Workspace(context, saved(1, 2));
    const file = exportChats(workspace);
    workspace = new Workspace(context);
    workspace.addPane()?.setDraft("Mine");
    expect(importChats(workspace, file)).toBe(2);
    expect(panes().map((pane) => pane.toSaved().draft)).toEqual(["Mine", "", ""]);
    expect(panes()[1]!.toSaved()).toMatchObject({ turns, settings: { seed: 1 } });
    expect(numbers()).toEqual([2, 1, 3]);
  });

  it("carries what was set for all panes as each chat's own", () => {
    importChats(workspace, JSON.stringify(saved(5)));
    expect(panes()[0]!.toSaved().settings).toEqual({ temperature: 0.5, seed: 5 });
  });

  it("that has no room, is no JSON or is damaged is refused by name, and changes nothing", () => {
    workspace = new Workspace(context, saved(...Array.from({ length: 15 }, (_, index) => index + 1)));
    const before = numbers();
    const refused = (text: string) => {
      try {
        importChats(workspace, text);
        return null;
      } catch (error) {
        return error;
      }
    };
    expect(refused(JSON.stringify(saved(1, 2)))).toMatchObject({
      message: expect.stringContaining("room for only 1 more"),
    });
    expect(refused("{")).toMatchObject({ code: "invalid_value", message: "The file isn't JSON." });
    expect(refused("[]")).toMatchObject({ code: "invalid_type" });
    const [damaged] = saved(1).panes;
    expect(refused(JSON.stringify({ ...saved(1), panes: [{ ...damaged, turns: [{ question: 7 }] }] }))).toMatchObject({
      param: "panes[0].turns[0].question",
    });
    expect(numbers()).toEqual(before);
  });
});
