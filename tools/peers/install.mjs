import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";

import { run } from "../run-command.mjs";

const folder = import.meta.dirname;

/**
 * Installs the peers that package-lock.json here names, unless they are there. They are no part of npm start or npm test.
 *
 * @returns {Promise<Record<string, string>>} each peer's version
 */
export async function installPeers() {
  const { dependencies } = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
  /** @type {[name: string, version: string][]} */
  const wanted = Object.entries(dependencies);
  const installed = await Promise.all(
    wanted.map(async ([name, version]) => (await installedVersion(name)) === version),
  );
  if (!installed.every(Boolean)) {
    console.log(`Installing ${wanted.map(([name, version]) => `${name} ${version}`).join(", ")} (about 500 MB)…`);
    // Their install scripts bring what only Node needs.
    const done = await run(`npm ci --prefix "${folder}" --ignore-scripts --no-audit --no-fund`, {
      output: "if-failed",
    });
    if (!done) {
      throw new Error(
        "The peers could not be installed: npm's messages above say why. The comparison needs npm's registry once; " +
          "everything else of Chorus does not.",
      );
    }
  }
  return Object.fromEntries(wanted);
}

/** @returns {Promise<string | null>} */
async function installedVersion(/** @type {string} */ name) {
  const file = join(folder, "node_modules", name, "package.json");
  return existsSync(file) ? JSON.parse(await readFile(file, "utf8")).version : null;
}
