import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ChorusError } from "../../../index.ts";
import { createAppState, type AppState } from "../../state/app/app-state.ts";
import { Overlay } from "../../state/app/overlay.ts";
import { openTheme } from "../../state/app/theme.ts";
import { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import { keptChoice } from "../../state/remembered.ts";
import { FakeEngine } from "../../../../tests/app/fake-engine.ts";
import { FakeModels } from "../../../../tests/app/fake-models.ts";
import type { DialogContent, PageName } from "../app/page-context.ts";
import { commandsOf, menuItems } from "./actions.ts";

// The message box and the names of keys ask at once.
vi.hoisted(() => {
  vi.stubGlobal("CSS", { supports: () => true });
  vi.stubGlobal("navigator", { userAgent: "" });
});
beforeEach(() => {
  vi.stubGlobal("matchMedia", () => ({ matches: false, addEventListener: () => {} }));
  vi.stubGlobal("document", { documentElement: { dataset: {} }, querySelector: () => null });
});
afterEach(() => vi.unstubAllGlobals());

async function openPage(name: PageName = "chats", refusal: ChorusError | null = null) {
  const app = createAppState({
    createEngine: async () => {
      if (refusal) throw refusal;
      return new FakeEngine();
    },
    models: new FakeModels(),
    choice: { model: "fake" },
    addressSettings: {},
    scheduleFlush: (flush) => flush(),
    now: () => 0,
  });
  const openChats = vi.fn<() => AppState>(() => app);
  const shared = {
    theme: openTheme(),
    overlay: new Overlay<DialogContent>(),
    singleKeys: keptChoice("singleKeys", ["on", "off"]),
    prompts: new SavedPrompts(),
  };
  const page = { ...shared, name, openChats, openedChats: openChats };
  const all = () => commandsOf(page);
  const enabled = () => all().filter(({ isEnabled }) => isEnabled?.());
  await expect.poll(() => app.engine.store.getState().status).not.toBe("loading");
  return {
    ...app,
    page,
    all,
    enabled,
    isEnabled: (id: string) => enabled().some((command) => command.id === id),
    find: (id: string) => all().find((command) => command.id === id),
    run: (id: string) =>
      all()
        .find((command) => command.id === id)
        ?.run(),
    titles: () => enabled().map(({ title }) => title),
    pane: () => app.workspace.store.getState().panes[0],
  };
}

it.each(["chats", "demo", "bench", "player", "docs", "serving"] as const)(
  "gives each keys to one action: %s",
  async (name) => {
    const { all } = await openPage(name);
    const keys = all().flatMap((command) => command.keys ?? []);
    expect(keys).toContain("Mod+K");
    expect(new Set(keys).size).toBe(keys.length);
  },
);

it("offers elsewhere what needs no chats, and opens none for that", async () => {
  const { titles, page } = await openPage("bench");
  expect(titles()).toEqual([
    "Show all commands",
    "Show keyboard shortcuts and documents",
    "Open the documents",
    "Back to the chats",
    "Run the demo",
    "Serving: how the engine is shared",
    "Open the player",
    "Light theme",
    "Dark theme",
  ]);
  expect(page.openChats).not.toHaveBeenCalled();
});

it("offers the batch in the demo, which Escape leaves, but no chat", async () => {
  const { isEnabled, find } = await openPage("demo");
  expect(find("demo.leave")?.keys).toBe("Escape");
  for (const id of ["batch.toggle", "batching.static", "engine.start"]) expect(find(id)).toBeDefined();
  for (const id of ["pane.add", "pane.new", "prompt.save", "models.open"]) expect(isEnabled(id)).toBe(false);
});

it("offers no chat where nothing can compute, but another backend", async () => {
  const { isEnabled, titles } = await openPage("chats", new ChorusError("webgpu_unavailable", "No adapter."));
  expect(titles()).not.toContain("Add a pane");
  for (const id of ["pane.add", "models.open", "panes.send"]) expect(isEnabled(id)).toBe(false);
  for (const id of ["engine.start", "backend.cpu", "page.bench"]) expect(isEnabled(id)).toBe(true);
});

it("offers to continue an answer only where whoever answers can", async () => {
  const { connections, pane, isEnabled, run } = await openPage();
  pane()?.replaceChat({
    title: null,
    settings: {},
    turns: [{ id: 1, question: "Why?", answer: "Because", end: "length" }],
    contextStart: 0,
    draft: "",
  });
  expect(isEnabled("pane.continue")).toBe(true);
  // A server of unknown software would answer anew.
  pane()?.answerBy({ baseUrl: connections.add("host.example", "", false), model: "m" });
  expect(isEnabled("pane.continue")).toBe(false);
  run("pane.continue");
  expect(pane()?.store.getState().phase).toBe("idle");
});

it("offers what can be done with the current chat, and does it", async () => {
  const { workspace, isEnabled, run } = await openPage();
  const offered = () => ["pane.again", "pane.duplicate", "pane.left", "pane.right", "panes.export"].filter(isEnabled);
  const numbers = () => workspace.store.getState().panes.map(({ number }) => number);

  expect(offered()).toEqual(["pane.duplicate", "panes.export"]);
  run("pane.duplicate");
  expect(offered()).toEqual(["pane.duplicate", "pane.left", "panes.export"]);
  run("pane.left");
  expect(numbers()).toEqual([2, 1]);
  run("pane.right");
  expect(numbers()).toEqual([1, 2]);
});

it("acts in a menu on the menu's own pane, and disables there what can't be done", async () => {
  const { workspace, page, run, pane } = await openPage();
  run("pane.duplicate");
  const [left, right] = menuItems(["pane.left", "pane.right"], page, pane());
  expect(left).toMatchObject({ label: "Move left", isDisabled: true });
  expect(right).toMatchObject({ label: "Move right", isDisabled: false });
  right?.run();
  expect(workspace.store.getState().panes.map(({ number }) => number)).toEqual([2, 1]);
});

it("offers the batching modes but the one that is, the timeline's pause and zoom, and what there is to save", async () => {
  const { batch, serving, find, isEnabled, run } = await openPage();
  expect([isEnabled("batch.metrics"), isEnabled("batch.recording")]).toEqual([true, true]);
  expect(isEnabled("batching.continuous")).toBe(false);
  run("batching.static");
  expect(serving.store.getState().settings).toEqual({ batchingMode: "static" });
  expect([isEnabled("batching.continuous"), isEnabled("batching.static")]).toEqual([true, false]);

  expect(find("timeline.pause")?.title).toBe("Pause the timeline");
  run("timeline.pause");
  expect(find("timeline.pause")?.title).toBe("Resume the timeline");

  while (isEnabled("timeline.in")) run("timeline.in");
  expect(isEnabled("timeline.out")).toBe(true);

  expect(find("batch.toggle")?.title).toBe("Close Batch");
  run("batch.toggle");
  expect(batch.dock.store.getState().isOpen).toBe(false);
});

it("saves the current draft, inserts a prompt before what is written, and deletes it, which can be undone", async () => {
  const { page, workspace, enabled, pane } = await openPage();
  const saved = () => page.prompts.store.getState();
  const titles = () => enabled().flatMap(({ id, title }) => (id.startsWith("prompt.") ? title : []));
  const run = (title: string) =>
    enabled()
      .find((command) => command.title === title)
      ?.run();

  expect(titles()).toEqual([]);
  pane()?.setDraft(" Say it\nin French. ");
  run("Save this draft as a prompt");
  expect(titles()).toEqual(["Insert prompt: Say it in French.", "Delete prompt: Say it in French."]);
  run("Insert prompt: Say it in French.");
  expect(pane()?.store.getState().draft).toBe("Say it\nin French.");
  pane()?.setDraft("Good day");
  run("Insert prompt: Say it in French.");
  expect(pane()?.store.getState().draft).toBe("Say it\nin French.\nGood day");
  run("Delete prompt: Say it in French.");
  expect(saved()).toEqual([]);
  workspace.undoList.undo();
  expect(saved()).toEqual(["Say it\nin French."]);
});
