// First, so that the components' styles win.
import "../styles.css";
import { createElement } from "react";
import { createRoot } from "react-dom/client";
import { createAppState, type AppState, type AppStateOptions } from "../../state/app/app-state.ts";
import { AppUpdates } from "../../state/app/app-updates.ts";
import { rememberedBackend } from "../../state/engine/engine-control.ts";
import { FrameFlusher } from "../../state/frame-flusher.ts";
import type { ChatStorage } from "../../state/workspace/chat-storage.ts";
import { saveWhileOpen } from "../../state/workspace/chat-saver.ts";
import { EMBEDDED_MODEL } from "../../state/models/embedded-model.ts";
import { choiceInAddress, rememberChoice, rememberedChoice } from "../../state/models/model-choice.ts";
import { Overlay } from "../../state/app/overlay.ts";
import { SavedPrompts } from "../../state/chat/saved-prompts.ts";
import { followAddress } from "../../state/app/router.ts";
import { watchFirstLoad } from "../../state/app/after-first-load.ts";
import { openTheme } from "../../state/app/theme.ts";
import { keptChoice } from "../../state/remembered.ts";
import { markdown } from "../chat/AnswerText.tsx";
import { listen } from "../listen.ts";
import { preload } from "../components/LazyComponent.tsx";
import { PageContext, type DialogContent, type Page } from "./page-context.ts";
import { nameOfPage, Pages } from "./Pages.tsx";

type Given = "createEngine" | "models" | "kept" | "tabsPlatform" | "backend";

interface StartAppOptions extends Pick<AppStateOptions, Given> {
  readonly root: HTMLElement;
  /** From the address: a model's folder, relative to the page, or its hub name. [the model chosen before] */
  readonly model?: string | null;
  /** Settings from the address, sent with every question. [the model's own] */
  readonly addressSettings?: AppStateOptions["addressSettings"];
  /** Reports newer versions of the page. [none] */
  readonly updates?: AppUpdates;
}

/** Loads the saved chats. If there are answers, it waits for their renderer, so that they don't change visibly. */
export async function loadKept(storage: ChatStorage): Promise<NonNullable<AppStateOptions["kept"]>> {
  const loadingMarkdown = markdown.load();
  const loaded = await storage.load();
  if (loaded.saved?.panes.some(({ turns }) => turns.length > 0)) await loadingMarkdown;
  return { storage, loaded };
}

/**
 * Renders the app. The chats, and the model they load, are opened when they are first shown or requested. The parts that a first
 * visit does not show at once load when `afterFirstLoad` resolves.
 */
export function startApp(options: StartAppOptions) {
  const { root, model = null, backend = null, updates = new AppUpdates(""), addressSettings = {} } = options;
  const { createEngine, afterFirstLoad } = watchFirstLoad(options.createEngine);
  void markdown.load();
  void afterFirstLoad.then(preload);
  // Else the browser would leave the page for a file that is dropped on it.
  const keepPage = (event: DragEvent) => event.dataTransfer?.types.includes("Files") && event.preventDefault();
  listen(window, { dragover: keepPage, drop: keepPage });
  const flusher = new FrameFlusher();
  const route = followAddress();
  const overlay = new Overlay<DialogContent>();
  route.subscribe(() => overlay.close());
  let app: AppState | undefined;
  const openChats = () => {
    if (app) return app;
    app = createAppState({
      ...options,
      createEngine,
      choice: model === null ? (rememberedChoice() ?? { model: EMBEDDED_MODEL }) : choiceInAddress(model),
      onModelChosen: (choice) => {
        rememberChoice(choice);
        forgetAddress();
      },
      addressSettings,
      route,
      // Else the next reload or visit would apply the link's settings again.
      onServingLink: (link) => location.hash.startsWith("#/?") && history.replaceState(history.state, "", link),
      scheduleFlush: flusher.schedule,
      now: () => performance.now(),
    });
    if (app.saver) saveWhileOpen(app.saver, flusher.flushAll);
    return app;
  };
  const page: Page = {
    get name() {
      return nameOfPage(route.getState());
    },
    theme: openTheme(),
    overlay,
    singleKeys: keptChoice("singleKeys", ["on", "off"]),
    prompts: new SavedPrompts(),
    openChats,
    openedChats: () => app ?? null,
  };
  const pages = createElement(Pages, {
    route,
    updates,
    createEngine: (engineOptions) => createEngine({ backend: backend ?? rememberedBackend(), ...engineOptions }),
    model: model ?? EMBEDDED_MODEL,
  });
  createRoot(root).render(createElement(PageContext, { value: page }, pages));
  return { openChats, afterFirstLoad };
}

/** Removes the model from the address, else the next reload would load it again. */
function forgetAddress(): void {
  const url = new URL(location.href);
  if (!url.searchParams.has("model")) return;
  url.searchParams.delete("model");
  history.replaceState(history.state, "", url);
}
