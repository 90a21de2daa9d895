import { FakeEngine, type FakeEngineOptions } from "./fake-engine.ts";
import { Announcements } from "../../src/app/state/app/announcements.ts";
import { Connections } from "../../src/app/state/connections/connections.ts";
import { EngineControl } from "../../src/app/state/engine/engine-control.ts";
import { Pane } from "../../src/app/state/chat/pane.ts";
import { RequestStats } from "../../src/app/state/chat/request-stats.ts";
import type { SavedChat } from "../../src/app/state/workspace/saved-workspace.ts";
import type { Settings } from "../../src/app/state/settings/settings.ts";
import { createStore } from "../../src/app/state/store.ts";

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
  const requestStats = new RequestStats();
  const connections = new Connections({ observer: requestStats });
  control.store.subscribe((state) => {
    if (state.status === "ready") state.engine.on("step", (report) => requestStats.addStep(report));
    if (state.status === "ready") state.engine.on("request", (report) => requestStats.addRequest(report));
  });
  const settings = createStore<Settings>(() => ({}));
  const { announce } = announcements;
  const addressSettings: Settings = {};
  const context = { engine: control, requestStats, settings, addressSettings, connections, scheduleFlush, announce };
  const [first, second] = engines as [FakeEngine, FakeEngine];
  const step = async (times = 1) => {
    await settle();
    for (let count = 0; count < times; count++) for (const engine of engines) engine.step();
    await settle();
  };
  const openPane = (number: number, chat?: SavedChat) => new Pane(number, context, chat);
  return { control, context, requestStats, connections, announcements, settings, first, second, step, openPane };
}

export const lastTurn = (pane: Pane) => pane.store.getState().turns.at(-1);
