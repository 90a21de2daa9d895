// The interface on a fake engine (tests/app/fake-app.ts), built as the app is: the end-to-end tests open it.
// `node tools/fake-app.mjs 4180` serves it on a port.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { build, preview } from "vite";

import { root } from "./run-command.mjs";

const PAGE = "tests/app/fake-app.html";

/** Builds it into a temporary folder and serves that. */
export async function serveFakeApp(/** @type {number} */ port) {
  const outDir = mkdtempSync(join(tmpdir(), "chorus-fake-"));
  const remove = () => rmSync(outDir, { recursive: true, force: true });
  process.on("exit", remove);
  const config = { root, configFile: join(root, "vite.config.ts"), logLevel: /** @type {const} */ ("warn") };
  await build({ ...config, build: { outDir, emptyOutDir: true, rolldownOptions: { input: join(root, PAGE) } } });
  const server = await preview({
    ...config,
    build: { outDir },
    preview: { host: "127.0.0.1", port, strictPort: true },
  });
  const close = async () => {
    await server.close();
    remove();
  };
  return { url: `http://127.0.0.1:${port}/${PAGE}`, close };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  // Playwright's workers have NODE_ENV=test, with which React's development build would be served.
  process.env.NODE_ENV = "production";
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => process.exit());
  console.log((await serveFakeApp(Number(process.argv[2]))).url);
}
