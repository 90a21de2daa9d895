import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createAppState } from "../../state/app/app-state.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { takeFiles } from "./take-files.ts";

// The message box asks at once.
vi.hoisted(() => vi.stubGlobal("CSS", { supports: () => true }));
beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
  vi.stubGlobal("document", { activeElement: null, body: {} });
});
afterEach(() => vi.unstubAllGlobals());

it("a file that is read after its pane was closed goes nowhere, and a line says so", async () => {
  const app = createAppState({
    createEngine: async () => new FakeEngine(),
    models: new FakeModels(),
    choice: { model: "fake" },
    sampling: {},
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  await app.engine.start();
  const { workspace } = app;
  const said = () => workspace.undoList.store.getState().toast?.title;
  const pane = workspace.addPane();
  if (pane === null) throw new Error("There is no room for a pane.");
  let read: (bytes: ArrayBuffer) => void = () => {};
  const file = new File(["text"], "notes.txt");
  vi.spyOn(file, "arrayBuffer").mockReturnValue(new Promise((resolve) => (read = resolve)));
  const taking = takeFiles(app, pane, [file]);
  await vi.waitFor(() => expect(said()).toBe("Reading notes.txt …"));
  workspace.closePane(pane);
  read(new TextEncoder().encode("text").buffer);
  await taking;
  expect(said()).toBe("notes.txt was for a pane that has been closed or has another chat now. Drop it again.");
});
