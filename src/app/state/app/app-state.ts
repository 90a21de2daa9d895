import type { Models } from "../../../index.ts";
import { Announcements } from "./announcements.ts";
import type { Route } from "./router.ts";
import { FIGURES_INTERVAL_MS } from "../batch/batch-metrics.ts";
import { Batch } from "../batch/batch.ts";
import { ChatSide } from "../history/chat-side.ts";
import { Connections } from "../connections/connections.ts";
import { EngineControl, type EngineControlOptions } from "../engine/engine-control.ts";
import { recoverEngine } from "../engine/engine-recovery.ts";
import { EngineTabs, type EngineTabsPlatform } from "../engine/engine-tabs.ts";
import { openServing, Serving } from "../engine/serving.ts";
import type { ModelChoice } from "../models/model-choice.ts";
import { ModelLibrary } from "../models/model-library.ts";
import { Differences } from "../chat/differences.ts";
import { RequestStats } from "../chat/request-stats.ts";
import type { Settings } from "../settings/settings.ts";
import { engineConfigOf } from "../settings/serving-settings.ts";
import { createStore, type ReadonlyStore } from "../store.ts";
import { ticker } from "../ticker.ts";
import type { Toolbox } from "../tools/toolbox.ts";
import type { ChatStorage } from "../workspace/chat-storage.ts";
import { Chats } from "../workspace/chats.ts";
import { followPanes } from "../workspace/follow-panes.ts";
import type { LoadedChats } from "../workspace/load-chats.ts";
import { ChatSaver } from "../workspace/chat-saver.ts";
import { Workspace } from "../workspace/workspace.ts";

export interface AppStateOptions extends Omit<EngineControlOptions, "config" | "onEngine"> {
  readonly models: Models;
  /** Called when a chosen model runs. */
  readonly onModelChosen?: (choice: ModelChoice) => void;
  /** Settings from the page's address. */
  readonly addressSettings: Settings;
  /** The storage of the chats, and the loaded chats. [nothing is saved] */
  readonly kept?: { readonly storage: ChatStorage; readonly loaded: LoadedChats };
  /** Lets the app's tabs share an engine, and know the memory of their engines. [none] */
  readonly tabsPlatform?: EngineTabsPlatform;
  /** The page's address, whose link may ask for serving settings. [no link] */
  readonly route?: ReadonlyStore<Route>;
  /** Called with the page's new link when other serving settings than the link's are in use. */
  readonly onServingLink?: (link: string) => void;
}

/** Everything the page shows, outside React: one engine, its batch's figures, and the panes. */
export type AppState = Readonly<ReturnType<typeof createAppState>>;

/** Wires the stores together and starts loading the model. */
export function createAppState(options: AppStateOptions) {
  const { scheduleFlush, addressSettings, kept, now } = options;
  const batch = new Batch(now);
  const announcements = new Announcements();
  const requestStats = new RequestStats(now, () => wake());
  const connections = new Connections({ observer: requestStats });
  const opened = openServing(options.route?.getState() ?? null);
  const engine = new EngineControl({
    ...options,
    config: engineConfigOf(opened.settings),
    onEngine(created) {
      batch.watch(created);
      created.on("step", (report) => requestStats.addStep(report));
      created.on("request", (report) => requestStats.addRequest(report));
      for (const event of ["step", "request", "config"] as const) created.on(event, wake);
    },
  });
  engine.store.subscribe(({ status }) => {
    if (status !== "ready") batch.watch(null);
    wake();
  });
  const serving = new Serving({ engine, opened, onLink: options.onServingLink ?? (() => undefined) });
  options.route?.subscribe((route) => void serving.follow(route));

  const saved = kept?.loaded.saved ?? null;
  const settings = createStore<Settings>(() => saved?.shared ?? {});
  const { announce } = announcements;
  const context = { engine, requestStats, settings, addressSettings, connections, scheduleFlush, announce };
  let toolbox: Toolbox | undefined;
  const openToolbox = async () => {
    const { Toolbox: Opened } = await import("../tools/toolbox.ts");
    const { allChats } = await import("../workspace/export-chats.ts");
    return (toolbox ??= new Opened(connections, () => allChats(workspace)));
  };
  const workspace = new Workspace({ ...context, toolbox: openToolbox }, saved, new Chats(kept?.storage));
  const saver = kept ? new ChatSaver(kept.storage, kept.loaded, workspace, settings) : null;
  // On a phone, going to a pane closes the batch.
  workspace.store.subscribe((state, before) => {
    if (state.current !== before.current) batch.dock.show(false);
  });
  const library = new ModelLibrary({
    models: options.models,
    engine,
    scheduleFlush,
    announce,
    onChosen: options.onModelChosen ?? (() => undefined),
  });
  const differences = new Differences();
  const wake = ticker(FIGURES_INTERVAL_MS, () => {
    const { panes } = workspace.store.getState();
    for (const pane of panes) pane.refreshFigures();
    differences.tick(panes);
    return batch.tick();
  });
  const watchPanes = () => {
    if (workspace.store.getState().panes.length > 1) batch.dock.openOnce();
    wake();
  };
  workspace.store.subscribe(watchPanes);
  watchPanes();
  followPanes(workspace, wake);

  const tabs = options.tabsPlatform ? new EngineTabs(engine, options.tabsPlatform) : null;

  void engine.start();
  return {
    ...context,
    recovery: recoverEngine(engine, now),
    serving,
    batch,
    workspace,
    chatSide: new ChatSide(),
    /** Null where tabs can't know of each other. */
    tabs,
    /** Null where nothing is saved. */
    saver,
    /** The first words in which answers to the same question differ. */
    differences,
    announcements,
    library,
  };
}
