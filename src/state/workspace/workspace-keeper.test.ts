import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { FakeEngine } from "../../testing/app/fake-engine.ts";
import { FakeModels } from "../../testing/app/fake-models.ts";
import { createAppState } from "../app/app-state.ts";
import type { SavedWorkspace } from "./saved-workspace.ts";
import type { LoadedWorkspace } from "./workspace-storage.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function open(loaded: Partial<LoadedWorkspace> = {}, save = async () => {}) {
  const written: SavedWorkspace[] = [];
  const storage = {
    load: async () => ({ saved: null, status: "ok" as const }),
    save: async (workspace: SavedWorkspace) => {
      await save();
      written.push(workspace);
    },
  };
  const engine = new FakeEngine({ answer: () => "a b c d" });
  const app = createAppState({
    createEngine: async () => engine,
    models: new FakeModels(),
    choice: { model: "fake" },
    sampling: {},
    kept: { storage, loaded: { saved: null, status: "ok", ...loaded } },
    scheduleFlush: (flush) => flush(),
    now: () => performance.now(),
  });
  return { ...app, engine, written, keeper: app.keeper! };
}

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
