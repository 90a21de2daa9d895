// Serves a page of the project, built as the app is: the end-to-end tests open the interface on a fake engine
// (`node tools/serve-page.mjs tests/app/fake-app.html 4180`), `npm run bench -- soak` its page.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build, preview } from "vite";

import { root } from "./run-command.mjs";

/** @type {import("vite").Plugin} Each worker is a build of its own: together they take half of the time. */
const emptyWorkers = {
  name: "empty-workers",
  enforce: "pre",
  load: (id) =>
    /\.(?:shared-)?worker\.ts(?:\?|$)/.test(id) ? 'throw new Error("This page is built without workers.");' : null,
};

/**
 * Builds a page into a temporary folder and serves that.
 *
 * @param {string} path
 * @param {{ port?: number, hasWorkers?: boolean }} [options] on any port that is free, without workers: a page on the fake engine
 *   starts none
 */
export async function servePage(path, { port, hasWorkers = false } = {}) {
  const outDir = mkdtempSync(join(tmpdir(), "chorus-page-"));
  const remove = () => rmSync(outDir, { recursive: true, force: true });
  process.on("exit", remove);
  const config = { root, configFile: join(root, "vite.config.ts"), logLevel: /** @type {const} */ ("warn") };
  await build({
    ...config,
    ...(!hasWorkers && { worker: { plugins: () => [emptyWorkers] } }),
    build: { outDir, emptyOutDir: true, rolldownOptions: { input: join(root, path) } },
  });
  const server = await preview({
    ...config,
    build: { outDir },
    preview: { host: "127.0.0.1", ...(port !== undefined && { port, strictPort: true }) },
  });
  const close = async () => {
    await server.close();
    remove();
  };
  return { url: `${server.resolvedUrls?.local[0]}${path}`, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Playwright's workers have NODE_ENV=test, with which React's development build would be served.
  process.env.NODE_ENV = "production";
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
  const [, , path = "", port] = process.argv;
  console.log((await servePage(path, { port: Number(port) })).url);
}
