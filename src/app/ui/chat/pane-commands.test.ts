import { expect, it } from "vitest";
import { createAppState } from "../../state/app/app-state.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { paneCommands } from "./pane-commands.ts";

it("offers what can be done with the current chat, and does it", () => {
  const app = createAppState({
    createEngine: async () => new FakeEngine(),
    models: new FakeModels(),
    choice: { model: "fake" },
    sampling: {},
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  const { workspace } = app;
  const commands = paneCommands(app);
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
