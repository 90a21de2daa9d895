import { Announcements } from "./announcements.ts";
import { BatchMetrics, FIGURES_INTERVAL_MS } from "./batch-metrics.ts";
import { Commands } from "./commands.ts";
import { EngineControl, type CreateEngine } from "./engine-control.ts";
import type { ScheduleFlush } from "./frame-flusher.ts";
import { RequestBook } from "./request-book.ts";
import type { Sampling } from "./stream-answer.ts";
import { Workspace } from "./workspace.ts";

export interface AppStateOptions {
  readonly createEngine: CreateEngine;
  /** The model's folder or hub name. */
  readonly model: string;
  readonly sampling: Sampling;
  readonly hasWebGpu: () => boolean;
  readonly scheduleFlush: ScheduleFlush;
  /** The page's clock, milliseconds. */
  readonly now: () => number;
}

/** Everything the page shows, outside of React: one engine, its batch's figures, and the panes. */
export interface AppState {
  readonly engine: EngineControl;
  readonly metrics: BatchMetrics;
  readonly workspace: Workspace;
  readonly announcements: Announcements;
  /** All that can be done here, by the palette and by keys. */
  readonly commands: Commands;
  /** How to name the model before it has told its own name. */
  readonly modelLabel: string;
}

/** Wires the stores together and starts loading the model. */
export function createAppState(options: AppStateOptions): AppState {
  const { scheduleFlush, sampling, now } = options;
  const engine = new EngineControl(options);
  const metrics = new BatchMetrics(now);
  const announcements = new Announcements();
  const book = new RequestBook();

  // First of the engine's listeners, so that no step of a pane's first question is missed.
  engine.store.subscribe((state) => {
    if (state.status !== "ready") {
      metrics.watch(null);
      return;
    }
    metrics.watch(state.engine);
    state.engine.on("step", (report) => {
      metrics.addStep(report);
      book.addStep(report);
    });
    state.engine.on("request", (report) => book.addRequest(report));
  });

  const workspace = new Workspace({ engine, book, sampling, scheduleFlush, announce: announcements.announce });
  setInterval(() => {
    metrics.tick();
    for (const pane of workspace.store.getState().panes) pane.refreshFigures();
  }, FIGURES_INTERVAL_MS);

  void engine.start();
  return { engine, metrics, workspace, announcements, commands: new Commands(), modelLabel: labelOf(options.model) };
}

/** "models/chorus-chat/" and "owner/chorus-chat" are both "chorus-chat". */
function labelOf(model: string): string {
  return model.split("/").findLast((part) => part !== "") ?? model;
}
