// First, so that what the components say wins.
import "./tokens.css";
import "./base.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { createAppState, type AppState, type AppStateOptions } from "../state/app-state.ts";
import { AppUpdates } from "../state/app-updates.ts";
import type { CreateEngine } from "../state/engine-control.ts";
import { FrameFlusher } from "../state/frame-flusher.ts";
import { keepWhileOpen } from "../state/keep-while-open.ts";
import { Router } from "../state/router.ts";
import { Theme } from "../state/theme.ts";
import { Pages } from "./Pages.tsx";

export interface StartAppOptions {
  /** Where the app is drawn. */
  readonly root: HTMLElement;
  readonly createEngine: CreateEngine;
  /** The model's folder, relative to the page, or its hub name. */
  readonly model: string;
  /** Fields that every question is sent with. [the model's own] */
  readonly sampling?: AppStateOptions["sampling"];
  readonly kept?: AppStateOptions["kept"];
  /** Tells of newer versions of the page. [there are none] */
  readonly updates?: AppUpdates;
}

/** Draws the app; the chats, with the model they load, are opened when they are first shown or asked for. */
export function startApp(options: StartAppOptions): { readonly openChats: () => AppState } {
  const { root, createEngine, model, kept } = options;
  const flusher = new FrameFlusher();
  let app: AppState | undefined;
  const openChats = () => {
    if (app) return app;
    app = createAppState({
      createEngine,
      model,
      sampling: options.sampling ?? {},
      ...(kept && { kept }),
      hasWebGpu: () => "gpu" in navigator,
      scheduleFlush: flusher.schedule,
      now: () => performance.now(),
    });
    if (app.keeper) keepWhileOpen(app.keeper);
    return app;
  };
  const router = new Router();
  const updates = options.updates ?? new AppUpdates("");
  createRoot(root).render(
    createElement(Pages, { router, theme: new Theme(), updates, openChats, createEngine, model }),
  );
  return { openChats };
}
