import { createEngine, models } from "./index.ts";
import { AppUpdates } from "./state/app/app-updates.ts";
import { readPageOptions } from "./state/app/page-options.ts";
import { IndexedDbStorage } from "./state/workspace/workspace-storage.ts";
import { loadKept, startApp } from "./ui/app/start-app.ts";

const root = document.getElementById("root");
if (root) {
  let onFirstLoad: (loading: Promise<unknown>) => void = () => {};
  const firstLoad = new Promise<unknown>((resolve) => (onFirstLoad = resolve));
  const kept = await loadKept(new IndexedDbStorage());
  const updates = new AppUpdates(import.meta.url);
  // The development server has no service worker. Without https there is none either.
  const workers = import.meta.env.PROD && "serviceWorker" in navigator ? navigator.serviceWorker : null;
  startApp({
    root,
    createEngine(options) {
      const loading = createEngine(options);
      onFirstLoad(loading.catch(() => undefined)); // heard by whoever loads
      return loading;
    },
    models,
    updates,
    // A file of its own, loaded with the first schema.
    schemaProblem: async (schema) => (await import("./grammar/schema-problem.ts")).schemaProblem(schema),
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
  if (import.meta.env.PROD) void updates.start("service-worker.js", firstLoad);
}
