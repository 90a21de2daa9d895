import { createEngine, models, schemaProblem } from "../index.ts";
import { AppUpdates } from "./state/app/app-updates.ts";
import { readPageOptions } from "./state/app/page-options.ts";
import { IndexedDbStorage } from "./state/workspace/workspace-storage.ts";
import { loadKept, startApp } from "./ui/app/start-app.ts";

const root = document.getElementById("root");
if (root) {
  const kept = await loadKept(new IndexedDbStorage());
  const updates = new AppUpdates(import.meta.url);
  // The development server has no service worker. Without https there is none either.
  const workers = import.meta.env.PROD && "serviceWorker" in navigator ? navigator.serviceWorker : null;
  const { isSettled } = startApp({
    root,
    createEngine,
    models,
    updates,
    schemaProblem,
    kept,
    ...(workers && {
      siteApiHome: { workers, caches, locks: navigator.locks, channel: new BroadcastChannel("chorus-api") },
    }),
    // Without https there are no locks.
    ...("locks" in navigator && {
      tabsHome: {
        locks: navigator.locks,
        channel: new BroadcastChannel("chorus-engine"),
        canShare: "SharedWorker" in globalThis,
      },
    }),
    ...readPageOptions(location.search),
  });
  if (import.meta.env.PROD) void updates.start("service-worker.js", isSettled);
}
