import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { createAppState } from "../../state/app/app-state.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import { ChorusError } from "../../../protocol/errors.ts";
import { REPLACED } from "../../state/engine/engine-control.ts";
import { takeFiles } from "./take-files.ts";

// The message box asks at once.
vi.hoisted(() => vi.stubGlobal("CSS", { supports: () => true }));
beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
  vi.stubGlobal("document", { activeElement: null, body: {}, querySelector: () => null });
});
afterEach(() => vi.unstubAllGlobals());

async function openApp() {
  const app = createAppState({
    createEngine: async () => new FakeEngine(),
    models: new FakeModels(),
    choice: { model: "fake" },
    addressSettings: {},
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  await app.engine.start();
  const { workspace } = app;
  const toast = () => workspace.undoList.store.getState().toast;
  const pane = workspace.addPane();
  if (pane === null) throw new Error("There is no room for a pane.");
  return { app, workspace, pane, toast, said: () => toast()?.title };
}

it("says how much of a text was left", async () => {
  const { app, pane, said } = await openApp();
  await takeFiles(app, pane, [new File(["word ".repeat(9000)], "book.txt")]);
  expect(said()).toMatch(/^book\.txt goes to fake-gpt: \d+ tokens, the first [\d,]+ of 44,999 characters$/);
});

it("a model's files can be used", async () => {
  const { app, pane, toast, said } = await openApp();
  const files = [new File([], "x.gguf")];
  await takeFiles(app, pane, files);
  expect(toast()).toMatchObject({ title: "x.gguf is a model’s file", offer: { label: "Use this model" } });
  expect(pane.store.getState().draft).toBe("");
  const use = vi.spyOn(app.library, "useFiles").mockResolvedValue(true);
  await toast()?.offer?.run();
  expect(use).toHaveBeenCalledWith(files);
  vi.spyOn(app.engine, "switchTo").mockResolvedValue(new ChorusError("model_invalid", "It is damaged."));
  use.mockRestore();
  await toast()?.offer?.run();
  expect(said()).toBe("It is damaged.");
  vi.spyOn(app.engine, "switchTo").mockResolvedValue(REPLACED);
  await takeFiles(app, pane, files);
  await toast()?.offer?.run();
  expect(said()).toBe("x.gguf is a model’s file");
});

it("what can't be read leaves the files beside it, and a line says so", async () => {
  const { app, pane, said } = await openApp();
  const picture = (name: string) => new File([new Uint8Array([0x89, 0x50, 0xff, 0])], name);
  await takeFiles(app, pane, [picture("a.png"), new File(["text"], "notes.txt")]);
  expect(pane.store.getState().draft).toBe("notes.txt:\n```\ntext\n```\n\n");
  expect(said()).toBe("a.png is not a text file (in UTF-8).");
  await takeFiles(app, pane, [picture("a.png"), picture("b.png"), new File(["more"], "more.txt")]);
  expect(pane.store.getState().draft).toContain("more.txt:");
  expect(said()).toBe("2 of 3 files were left out. a.png is not a text file (in UTF-8).");
});

it("exported chats that are damaged change nothing, and a line says so", async () => {
  const { app, pane, toast, said } = await openApp();
  await takeFiles(app, pane, [new File(['{"app": "chorus", "panes": 1}'], "chats.json")]);
  await toast()?.offer?.run();
  expect(said()).toMatch(/^chats\.json: .+ Nothing was changed\.$/);
});

it("a file that is read after its pane was closed goes nowhere, and a line says so", async () => {
  const { app, workspace, pane, said } = await openApp();
  let read: (bytes: ArrayBuffer) => void = () => {};
  const file = new File(["text"], "notes.txt");
  vi.spyOn(file, "arrayBuffer").mockReturnValue(new Promise((resolve) => (read = resolve)));
  const taking = takeFiles(app, pane, [file]);
  await expect.poll(said).toBe("Reading notes.txt …");
  workspace.closePane(pane);
  read(new TextEncoder().encode("text").buffer);
  await taking;
  expect(said()).toBe("notes.txt was for a pane that has been closed or has another chat now. Drop it again.");
});
