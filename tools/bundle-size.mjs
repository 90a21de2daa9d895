// Measures the files that a browser fetches before the app can be used: the page, its scripts and styles, and the engine's worker. Chunks
// that are loaded on demand and the model don't count. `node tools/bundle-size.mjs` fails where it is too much.

import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { gzipSync } from "node:zlib";

import { root } from "./run-command.mjs";

export const BUNDLE_LIMIT_KB = 262;

/** @param folder of the built app */
export function measureBundle(folder = join(root, "dist")) {
  const html = readFileSync(join(folder, "index.html"), "utf8");
  const inPage = [...html.matchAll(/(?:src|href)="\.?\/?(assets\/[^"]+\.(?:js|css))"/g)].map(([, path]) => path ?? "");
  const worker = readdirSync(join(folder, "assets")).filter((name) => /^engine\.worker-.*\.js$/.test(name));
  const names = ["index.html", ...inPage, ...worker.map((name) => `assets/${name}`)];
  const files = [...withStaticImports(folder, names)].map((name) => ({
    name,
    gzipBytes: gzipSync(readFileSync(join(folder, name)), { level: 9 }).length,
  }));
  return { files, gzipBytes: files.reduce((sum, { gzipBytes }) => sum + gzipBytes, 0) };
}

/** @returns {Set<string>} the files and those that their scripts import at once */
function withStaticImports(/** @type {string} */ folder, /** @type {string[]} */ names) {
  const found = new Set(names);
  for (const name of found) {
    if (!name.endsWith(".js")) continue;
    const code = readFileSync(join(folder, name), "utf8");
    for (const [, imported] of code.matchAll(/(?:\bfrom|\bimport)\s*["']\.\/([^"']+\.js)["']/g)) {
      found.add(`assets/${imported}`);
    }
  }
  return found;
}

export function describeBundle(/** @type {ReturnType<typeof measureBundle>} */ { files, gzipBytes }) {
  const kB = (/** @type {number} */ bytes) => `${(bytes / 1000).toFixed(1)} kB`;
  const list = files.map((file) => `  ${kB(file.gzipBytes).padStart(9)}  ${basename(file.name)}`).join("\n");
  return `The app's first bundle, gzip: ${kB(gzipBytes)} of at most ${BUNDLE_LIMIT_KB} kB\n${list}`;
}

if (process.argv[1] === import.meta.filename) {
  const bundle = measureBundle();
  console.log(describeBundle(bundle));
  if (bundle.gzipBytes > 1000 * BUNDLE_LIMIT_KB) process.exitCode = 1;
}
