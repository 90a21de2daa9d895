// Workers of an engine as one script each: nearly every test opens one, which would load some hundred files.

import type { Plugin } from "vite";

import { bundleScript } from "../bundle-script.ts";

const WORKERS = ["/src/host/engine.worker.ts", "/src/host/text/text.worker.ts", "/src/grammar/grammar.worker.ts"];

/** Serves those scripts where Vite would serve the first of a worker's modules. */
export function bundledWorkers(): Plugin {
  const scripts = new Map<string, Promise<string>>();
  return {
    name: "bundled-workers",
    configureServer({ middlewares, watcher }) {
      watcher.on("change", () => scripts.clear());
      middlewares.use((request, response, next) => {
        const entry = WORKERS.find((path) => request.url?.startsWith(`${path}?worker_file`));
        if (entry === undefined) return next();
        const script = scripts.get(entry) ?? bundleScript(entry.slice(1));
        scripts.set(entry, script);
        script.catch(() => scripts.delete(entry));
        response.setHeader("content-type", "text/javascript");
        script.then((code) => response.end(code), next);
      });
    },
  };
}
