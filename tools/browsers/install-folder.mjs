import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { INSTALL_MS, run } from "../run-command.mjs";

/**
 * Installs the packages that a folder's package-lock.json names, unless they are there. Few commands need them, so npm start
 * and npm test do without.
 */
export async function installFolder(/** @type {string} */ folder, /** @type {string} */ sizeInWords) {
  /** @type {{ dependencies: Record<string, string> }} */
  const { dependencies: versions } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const packages = Object.entries(versions);
  // A package under another name: "npm:typescript@5.9.3".
  if (packages.every(([name, version]) => installedVersion(folder, name) === version.split("@").at(-1))) {
    return { isInstalled: true, versions };
  }
  console.log(`Installing ${packages.map((each) => each.join(" ")).join(", ")} (${sizeInWords})…`);
  // Install scripts bring what nothing here needs.
  const command = `npm ci --prefix "${folder}" --ignore-scripts --no-audit --no-fund`;
  return { isInstalled: await run(command, { output: "if-failed", limitMs: INSTALL_MS }), versions };
}

/** @returns {string | null} */
function installedVersion(/** @type {string} */ folder, /** @type {string} */ name) {
  const manifest = join(folder, "node_modules", name, "package.json");
  return existsSync(manifest) ? JSON.parse(readFileSync(manifest, "utf8")).version : null;
}
