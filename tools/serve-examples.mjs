// npm run examples: builds and packs the library, installs it beside copies of the examples, and serves them.

import "./require-node.mjs";

import { readdirSync } from "node:fs";
import { join } from "node:path";

import { openCommand } from "./command-line.mjs";
import { installPacked } from "./install-packed.mjs";
import { root, run } from "./run-command.mjs";

/** Serves what installPacked made. @returns {Promise<import("vite").ViteDevServer>} */
export async function serveExamples(/** @type {string} */ folder, port = 0) {
  const { createServer } = await import("vite");
  const server = await createServer({
    root: folder,
    configFile: false,
    logLevel: "error",
    publicDir: false,
    // Without index.html a name is a folder, as on a static host.
    appType: "mpa",
    // The models are a link out of it.
    server: { host: "127.0.0.1", port, hmr: false, fs: { allow: [root] } },
  });
  return server.listen();
}

/** Where each example is once it is served; that of Node is a command. @returns {(readonly [name: string, where: string])[]} */
export function exampleAddresses(/** @type {string} */ folder, /** @type {string} */ url) {
  const entries = readdirSync(join(root, "examples"), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory());
  return folders.map(({ name }) => [
    name,
    name === "node"
      ? `node ${join(folder, name, "in-process.js")} ${join(folder, "models", "chorus-chat")}`
      : `${url}${name}/?model=/models/chorus-chat/`,
  ]);
}

if (process.argv[1] === import.meta.filename) {
  const about =
    "Builds and packs the library, installs it beside copies of the examples, and serves them on this machine.";
  (await openCommand("npm run examples", about)).parse();
  console.log("Building…");
  if (!(await run("npm run --silent build", { output: "if-failed" }))) process.exit(1);
  const { folder } = await installPacked("examples");
  const url = (await serveExamples(folder, 5174)).resolvedUrls?.local[0] ?? "";
  for (const [name, where] of exampleAddresses(folder, url)) console.log(name.padEnd(14), where);
  console.log("The embedded model answers; without ?model= one of the hub does. Ctrl+C ends it.");
}
