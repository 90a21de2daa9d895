import { expect, it } from "vitest";
import { createAppState } from "../../state/app/app-state.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { paneCommands } from "./pane-commands.ts";

function openApp() {
  const app = createAppState({
    createEngine: async () => new FakeEngine(),
    models: new FakeModels(),
    choice: { model: "fake" },
    sampling: {},
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  return { ...app, commands: paneCommands(app) };
}

it("offers to continue an answer only where whoever answers can", () => {
  const { workspace, connections, commands } = openApp();
  const [pane] = workspace.store.getState().panes;
  const command = commands.find(({ id }) => id === "pane.continue");
  pane?.replaceChat({
    title: null,
    settings: {},
    turns: [{ id: 1, question: "Why?", answer: "Because", end: "length" }],
    firstSent: 0,
    draft: "",
  });
  expect(command?.isEnabled?.()).toBe(true);
  // A server of unknown software would answer anew.
  pane?.answerBy({ baseUrl: connections.add("host.example", "", false), model: "m" });
  expect(command?.isEnabled?.()).toBe(false);
  command?.run();
  expect(pane?.store.getState().phase).toBe("idle");
});

it("offers what can be done with the current chat, and does it", () => {
  const { workspace, commands } = openApp();
  const enabled = () => commands.filter(({ isEnabled }) => isEnabled?.() ?? true).map(({ id }) => id);
  const run = (id: string) => commands.find((command) => command.id === id)?.run();
  const numbers = () => workspace.store.getState().panes.map(({ number }) => number);

  expect(enabled()).toEqual(["pane.duplicate", "panes.export"]);
  run("pane.duplicate");
  expect(enabled()).toEqual(["pane.duplicate", "pane.left", "panes.export"]);
  run("pane.left");
  expect(numbers()).toEqual([2, 1]);
  run("pane.right");
  expect(numbers()).toEqual([1, 2]);
});
