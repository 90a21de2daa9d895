// Builds src/app/service-worker/ into dist/service-worker.js, with the list of files that the app needs. It isn't Workbox, which
// answers from its cache first, so `npm start` would show an old build until a second reload, and has two hundred packages.

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import { build, type Plugin, type ResolvedConfig } from "vite";

import type { PrecacheEntry } from "../../src/app/service-worker/precache.ts";

const FILE_NAME = "service-worker.js";

/** `isNeeded` says of each path in the build whether the app needs it without network. */
export function serviceWorker(isNeeded: (path: string) => boolean): Plugin {
  let config: ResolvedConfig;
  return {
    name: "service-worker",
    apply: "build",
    configResolved(resolved) {
      config = resolved;
    },
    // After everything is written, public/ too.
    async closeBundle() {
      const folder = resolve(config.root, config.build.outDir);
      const entries = listFiles(folder)
        .filter((path) => path !== FILE_NAME && isNeeded(path))
        .map((path): PrecacheEntry => {
          const sha256 = createHash("sha256")
            .update(readFileSync(join(folder, path)))
            .digest("hex");
          // Vite puts a hash of the contents into the names in assets/, and nowhere else.
          return { path: path === "index.html" ? "" : path, sha256, isImmutable: path.startsWith("assets/") };
        });
      writeFileSync(join(folder, FILE_NAME), await bundle(config.root, entries));
    },
  };
}

async function bundle(root: string, entries: readonly PrecacheEntry[]): Promise<string> {
  const result = await build({
    root,
    configFile: false,
    publicDir: false,
    logLevel: "warn",
    define: { PRECACHE: JSON.stringify(entries) },
    build: {
      write: false,
      target: "esnext",
      rolldownOptions: { input: join(root, "src/app/service-worker/service-worker.ts"), output: { format: "iife" } },
    },
  });
  const [output] = [result].flat();
  if (!output || !("output" in output)) throw new Error("The service worker was not built.");
  return output.output[0].code;
}

/** Every file below `folder`, with "/" between, in the same order everywhere. */
function listFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)).split(sep).join("/"))
    .sort();
}
