// Installs what every command of a fresh clone needs first: the packages of package-lock.json. Has no dependencies.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root, run } from "./run-command.mjs";

/** Installs the packages unless exactly those of package-lock.json are there. Ends the process where that fails. */
export async function setUp() {
  if (packagesAreInstalled()) return;
  console.log("Installing packages (npm ci)…");
  if (await run("npm ci --no-audit --no-fund", { output: "if-failed" })) return;
  console.error("\nThe packages could not be installed: npm's messages above say why. Is this machine offline?");
  process.exit(1);
}

// npm leaves a list of what it installed in node_modules when it is done: a half-finished install has none. Packages
// for other operating systems are in package-lock.json only, marked optional.
function packagesAreInstalled() {
  const requested = readPackages("package-lock.json");
  const installed = readPackages(join("node_modules", ".package-lock.json"));
  if (!requested || !installed) return false;
  return Object.entries(requested).every(([path, { version, optional }]) => {
    const found = installed[path];
    return path === "" || (found ? found.version === version : optional === true);
  });
}

/** @returns {Record<string, { version?: string, optional?: boolean }> | null} */
function readPackages(/** @type {string} */ lockFile) {
  try {
    return JSON.parse(readFileSync(join(root, lockFile), "utf8")).packages;
  } catch {
    return null;
  }
}
