// The CPU backend's helping thread as one script: Node 20 runs no TypeScript.

import { Worker } from "node:worker_threads";

import type { Plugin } from "vite";

import { nodeHelper, type HelperThread } from "../../src/backends/cpu/threads/helper-thread.ts";
import { bundleScript } from "../bundle-script.ts";

let script: Promise<string> | undefined;

/** Returns the script as the URL of a worker. `before` runs first in it. */
async function bundledHelperUrl(before = ""): Promise<string> {
  script ??= bundleScript("src/backends/cpu/threads/helper.worker.ts");
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
