// The library as npm would publish it, installed in a project of its own.

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { INSTALL_MS, root } from "./run-command.mjs";

/**
 * @typedef {{
 *   folder: string,
 *   tarball: string,
 *   sizes: { size: number, unpackedSize: number, files: { path: string }[] },
 * }} Packed
 */

/** Packs what was built, and installs it in an own project beside the embedded model. @returns {Promise<Packed>} */
export async function installPacked(/** @type {"examples" | "bundlers"} */ project) {
  const folder = join(root, ".chorus", `packed-${project}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const npm = (/** @type {string[]} */ words, /** @type {string} */ cwd) =>
    promisify(execFile)("npm", words, {
      cwd,
      shell: process.platform === "win32",
      maxBuffer: 2 ** 24,
      timeout: INSTALL_MS,
    });
  const packing = npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root);
  const [sizes] = JSON.parse((await packing).stdout);
  const tarball = join(folder, sizes.filename);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  // Without one of its own, esbuild would take the repository's, whose paths lead to the sources.
  writeFileSync(join(folder, "tsconfig.json"), "{}\n");
  await npm(["install", "--offline", "--no-audit", "--no-fund", tarball], folder);
  symlinkSync(join(root, "public", "models"), join(folder, "models"), "junction");
  if (project === "examples") {
    cpSync(join(root, "examples"), folder, { recursive: true });
    // Their pages name their own node_modules, as whoever copies the folders has them.
    for (const name of ["plain-page", "service-worker"])
      symlinkSync(join(folder, "node_modules"), join(folder, name, "node_modules"), "junction");
  }
  return { folder, tarball, sizes };
}
