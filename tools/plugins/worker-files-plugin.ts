import { basename } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";

import { build, type Plugin } from "vite";

import { wgslWithoutComments } from "./wgsl-plugin.ts";

const WORKER_URL = /new URL\(\s*"[^"]*\/([\w.-]+\.(?:shared-)?worker)\.ts",\s*import\.meta\.url\s*\)/g;
const INLINE_WORKERS = /\/src\/client\/inline-workers\.ts$/;

/**
 * In the library's build, workers are entries that share its chunks. Vite would build each by itself, with all that it
 * imports. Bundlers understand what is written here: `new Worker(new URL("./name.worker.js", import.meta.url))`. For those
 * that leave the files behind, src/client/inline-workers.ts gets the text of them all.
 */
export function workerFiles(): Plugin {
  return {
    name: "worker-files",
    enforce: "pre",
    resolveId: (id) => (id.endsWith(".worker.ts?worker&url") ? `\0file:${basename(id)}` : null),
    load(id) {
      if (INLINE_WORKERS.test(id)) return packWorkers();
      const [, worker] = /^\0file:(.*\.worker)\.ts\?/.exec(id) ?? [];
      return worker === undefined ? null : `export default "./${worker}.js"`;
    },
    // Written out last: Vite would look for the files among the sources.
    transform: (code) => replaceInLines(code, WORKER_URL, 'fileUrl("$1.js")'),
    renderChunk: (code) =>
      replaceInLines(code, /\bfileUrl\(["'`]([\w.-]+)["'`]\)/g, 'new URL("./$1", import.meta.url)'),
  };
}

/** Returns what to give a bundler: nothing where nothing changes; else the code, whose lines its source map still finds. */
function replaceInLines(code: string, pattern: RegExp, by: string): { code: string; map: null } | null {
  const replaced = code.replaceAll(pattern, by);
  return replaced === code ? null : { code: replaced, map: null };
}

/** Returns a module with the script src/host/all-workers.ts, compressed. It finds itself, and nothing but itself. */
async function packWorkers(): Promise<string> {
  const result = await build({
    configFile: false,
    logLevel: "warn",
    publicDir: false,
    plugins: [wgslWithoutComments(), filesWithin()],
    build: {
      write: false,
      target: "esnext",
      lib: { entry: "src/host/all-workers.ts", formats: ["iife"], name: "workers" },
      rolldownOptions: { external: /^node:/, output: { minify: true } },
    },
  });
  const [first] = Array.isArray(result) ? result : [result];
  if (first === undefined || !("output" in first)) throw new Error("Vite has built no workers.");
  const packed = await promisify(gzip)(first.output[0].code, { level: 9 });
  return `export const packedWorkers = "${packed.toString("base64")}";`;
}

/** In that script a worker is the script itself. */
function filesWithin(): Plugin {
  return {
    name: "files-within",
    enforce: "pre",
    transform: (code) => code.replaceAll(WORKER_URL, 'new URL("#$1", self.location.href)'),
  };
}
