import { createEngine, models } from "../index.ts";
import { AppUpdates } from "./state/app/app-updates.ts";
import { readPageOptions } from "./state/app/page-options.ts";
import { ChatStorage } from "./state/workspace/chat-storage.ts";
import { loadKept, startApp } from "./ui/app/start-app.ts";

/** Starts the app. Not awaited at the top: late parts of the page import this file, and both would wait for each other. */
async function start(root: HTMLElement): Promise<void> {
  const kept = await loadKept(new ChatStorage());
  const updates = new AppUpdates(import.meta.url);
  const { afterFirstLoad } = startApp({
    root,
    createEngine,
    models,
    updates,
    kept,
    // Without https there are no locks.
    ...("locks" in navigator && {
      tabsPlatform: {
        locks: navigator.locks,
        channel: new BroadcastChannel("chorus-engine"),
        canShare: "SharedWorker" in globalThis,
        page: document,
      },
    }),
    ...readPageOptions(location.search),
  });
  if (import.meta.env.PROD) void updates.start("service-worker.js", afterFirstLoad);
}

const root = document.getElementById("root");
if (root) void start(root);
