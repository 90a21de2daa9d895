// First, so that what the components say wins.
import "../tokens.css";
import "../base.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { createAppState, type AppState, type AppStateOptions } from "../../state/app/app-state.ts";
import { AppUpdates } from "../../state/app/app-updates.ts";
import type { CreateEngine } from "../../state/engine/engine-control.ts";
import { FrameFlusher } from "../../state/frame-flusher.ts";
import { keepWhileOpen } from "../../state/workspace/keeping-turn.ts";
import { EMBEDDED_MODEL, rememberChoice, rememberedChoice } from "../../state/models/model-choice.ts";
import { Router } from "../../state/app/router.ts";
import { Theme } from "../../state/app/theme.ts";
import { Pages } from "./Pages.tsx";

interface StartAppOptions {
  /** Where the app is drawn. */
  readonly root: HTMLElement;
  readonly createEngine: CreateEngine;
  readonly models: AppStateOptions["models"];
  /** What the address asks for: a model's folder, relative to the page, or its hub name. [the one chosen before] */
  readonly model?: string | null;
  /** Fields that every question is sent with. [the model's own] */
  readonly sampling?: AppStateOptions["sampling"];
  readonly kept?: AppStateOptions["kept"];
  readonly schemaProblem?: NonNullable<AppStateOptions["schemaProblem"]>;
  /** Tells of newer versions of the page. [there are none] */
  readonly updates?: AppUpdates;
}

/** Draws the app; the chats, with the model they load, are opened when they are first shown or asked for. */
export function startApp(options: StartAppOptions): { readonly openChats: () => AppState } {
  const { root, createEngine, models, kept, schemaProblem, model = null } = options;
  const flusher = new FrameFlusher();
  let app: AppState | undefined;
  const openChats = () => {
    if (app) return app;
    app = createAppState({
      createEngine,
      models,
      choice: model === null ? (rememberedChoice() ?? { model: EMBEDDED_MODEL }) : { model },
      onModelChosen: (choice) => {
        rememberChoice(choice);
        forgetAddress();
      },
      sampling: options.sampling ?? {},
      ...(kept && { kept }),
      ...(schemaProblem && { schemaProblem }),
      hasWebGpu: () => "gpu" in navigator,
      scheduleFlush: flusher.schedule,
      now: () => performance.now(),
    });
    if (app.keeper) keepWhileOpen(app.keeper, flusher.flushAll);
    return app;
  };
  const router = new Router();
  const updates = options.updates ?? new AppUpdates("");
  createRoot(root).render(
    createElement(Pages, {
      router,
      theme: new Theme(),
      updates,
      openChats,
      createEngine,
      model: model ?? EMBEDDED_MODEL,
    }),
  );
  return { openChats };
}

/** The model that the address asks for would be back at the next reload. */
function forgetAddress(): void {
  const url = new URL(location.href);
  if (!url.searchParams.has("model")) return;
  url.searchParams.delete("model");
  history.replaceState(history.state, "", url);
}
