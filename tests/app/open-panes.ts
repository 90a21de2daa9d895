import { FakeEngine, type FakeEngineOptions } from "./fake-engine.ts";
import { Announcements } from "../../src/app/state/app/announcements.ts";
import { Connections } from "../../src/app/state/connections/connections.ts";
import { EngineControl } from "../../src/app/state/engine/engine-control.ts";
import { Pane } from "../../src/app/state/chat/pane.ts";
import { RequestBook } from "../../src/app/state/chat/request-book.ts";
import type { SavedChat } from "../../src/app/state/workspace/saved-workspace.ts";
import { SharedSettings } from "../../src/app/state/settings/shared-settings.ts";

/** Lets promises settle: what a fake engine pushed reaches the pane. */
export const settle = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

/** Panes on fake engines. `control` starts one engine after the other; `step` runs a step. */
export function openPanes(options: FakeEngineOptions = {}) {
  const engines = [new FakeEngine(options), new FakeEngine(options)];
  let started = 0;
  const now = () => 0;
  const scheduleFlush = (flush: () => void) => flush();
  const control = new EngineControl({
    createEngine: async () => engines[started++] ?? new FakeEngine(options),
    choice: { model: "fake" },
    scheduleFlush,
    now,
  });
  const announcements = new Announcements();
  const book = new RequestBook();
  const connections = new Connections({ observer: book });
  control.store.subscribe((state) => {
    if (state.status === "ready") state.engine.on("step", (report) => book.addStep(report));
    if (state.status === "ready") state.engine.on("request", (report) => book.addRequest(report));
  });
  const settings = new SharedSettings();
  const context = { engine: control, book, settings, connections, scheduleFlush, announce: announcements.announce };
  const [first, second] = engines as [FakeEngine, FakeEngine];
  const step = async (times = 1) => {
    await settle();
    for (let count = 0; count < times; count++) for (const engine of engines) engine.step();
    await settle();
  };
  const openPane = (number: number, chat?: SavedChat) => new Pane(number, context, chat);
  return { control, context, book, connections, announcements, settings, first, second, step, openPane };
}

export const lastTurn = (pane: Pane) => pane.store.getState().turns.at(-1);
