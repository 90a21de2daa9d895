import { beforeEach, expect, it } from "vitest";
import { FakeEngine } from "../testing/fake-engine.ts";
import { EngineControl } from "./engine-control.ts";
import { RequestBook } from "./request-book.ts";
import { MAX_PANES, Workspace } from "./workspace.ts";

let workspace: Workspace;
beforeEach(() => {
  const scheduleFlush = (flush: () => void) => flush();
  const engine = new EngineControl({
    createEngine: async () => new FakeEngine(),
    model: "fake",
    hasWebGpu: () => true,
    scheduleFlush,
    now: () => 0,
  });
  workspace = new Workspace({ engine, book: new RequestBook(), sampling: {}, scheduleFlush, announce: () => {} });
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
