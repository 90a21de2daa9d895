// The CPU backend's helping thread as one script: Node 20 runs no TypeScript.

import { Worker } from "node:worker_threads";

import { build, type Plugin } from "vite";

import { nodeHelper, type HelperThread } from "../../src/backends/cpu/threads/helper-thread.ts";

let script: Promise<string> | undefined;

async function bundle(): Promise<string> {
  const output = await build({
    configFile: false,
    logLevel: "silent",
    build: {
      write: false,
      minify: false,
      lib: { entry: "src/backends/cpu/threads/helper.worker.ts", formats: ["es"], fileName: "helper" },
      rolldownOptions: { external: ["node:worker_threads"] },
    },
  });
  const [first] = Array.isArray(output) ? output : [output];
  if (first === undefined || !("output" in first)) throw new Error("vite has built nothing");
  return first.output[0].code;
}

/** Returns the script as the URL of a worker. `before` runs first in it. */
async function bundledHelperUrl(before = ""): Promise<string> {
  script ??= bundle();
  return `data:text/javascript,${encodeURIComponent(before + (await script))}`;
}

/** Opens a helping thread of Node. `before` runs first in it, `onExit` is called when it has ended. */
export async function openBundledHelper(before = "", onExit: () => void = () => undefined): Promise<HelperThread> {
  const worker = new Worker(new URL(await bundledHelperUrl(before)));
  worker.on("exit", onExit);
  return nodeHelper(worker);
}

/** In tests, the engine's own helping threads run this script, too. */
export function bundledHelper(): Plugin {
  const id = "\0bundled-helper";
  return {
    name: "bundled-helper",
    enforce: "pre",
    resolveId: (source) => (source.endsWith("/helper.worker.ts?worker&url") ? id : null),
    load: async (loaded) => (loaded === id ? `export default ${JSON.stringify(await bundledHelperUrl())}` : null),
  };
}
