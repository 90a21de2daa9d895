// The threads beside an engine as one script each: nearly every test opens one, which would load some hundred files.

import { build, type Plugin } from "vite";

const THREADS = ["/src/host/text/text.worker.ts", "/src/grammar/grammar.worker.ts"];

async function bundle(entry: string): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry, formats: ["es"], fileName: "thread" },
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  const [first] = Array.isArray(output) ? output : [output];
  if (first === undefined || !("output" in first)) throw new Error("vite has built nothing");
  return first.output[0].code;
}

/** Serves those scripts where Vite would serve the first of a thread's modules. */
export function bundledThreads(): Plugin {
  const scripts = new Map<string, Promise<string>>();
  return {
    name: "bundled-threads",
    configureServer({ middlewares }) {
      middlewares.use((request, response, next) => {
        const entry = THREADS.find((path) => request.url?.startsWith(`${path}?worker_file`));
        if (entry === undefined) return next();
        const script = scripts.get(entry) ?? bundle(entry.slice(1));
        scripts.set(entry, script);
        response.setHeader("content-type", "text/javascript");
        script.then((code) => response.end(code), next);
      });
    },
  };
}
