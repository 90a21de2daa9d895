// Workers of an engine as one script each: nearly every test opens one, which would load some hundred files.

import { build, type Plugin } from "vite";

const WORKERS = ["/src/host/engine.worker.ts", "/src/host/text/text.worker.ts", "/src/grammar/grammar.worker.ts"];

async function bundle(entry: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ["es"], fileName: "worker" },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [first] = Array.isArray(output) ? output : [output];
  if (first === undefined || !("output" in first)) throw new Error("vite has built nothing");
  return first.output[0].code;
}

/** Serves those scripts where Vite would serve the first of a worker's modules. */
export function bundledWorkers(): Plugin {
  const scripts = new Map<string, Promise<string>>();
  return {
    name: "bundled-workers",
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const entry = WORKERS.find((path) => request.url?.startsWith(`${path}?worker_file`));
        if (entry === undefined) return next();
        const script = scripts.get(entry) ?? bundle(entry.slice(1));
        scripts.set(entry, script);
        response.setHeader("content-type", "text/javascript");
        script.then((code) => response.end(code), next);
      });
    },
  };
}
