// First, so that what the components say wins.
import "./tokens.css";
import "./base.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { createAppState, type AppState } from "../state/app-state.ts";
import type { CreateEngine } from "../state/engine-control.ts";
import { FrameFlusher } from "../state/frame-flusher.ts";
import type { Sampling } from "../state/stream-answer.ts";
import { Theme } from "../state/theme.ts";
import { App } from "./App.tsx";

export interface StartAppOptions {
  /** Where the app is drawn. */
  readonly root: HTMLElement;
  readonly createEngine: CreateEngine;
  /** The model's folder, relative to the page, or its hub name. */
  readonly model: string;
  /** Fields that every question is sent with. [the model's own] */
  readonly sampling?: Sampling;
}

/** Draws the app and begins to load the model. */
export function startApp(options: StartAppOptions): AppState {
  const flusher = new FrameFlusher();
  const app = createAppState({
    createEngine: options.createEngine,
    model: options.model,
    sampling: options.sampling ?? {},
    hasWebGpu: () => "gpu" in navigator,
    scheduleFlush: flusher.schedule,
    now: () => performance.now(),
  });
  createRoot(options.root).render(createElement(App, { app, theme: new Theme() }));
  return app;
}
