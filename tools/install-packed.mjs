// The library as npm would publish it, installed in a project beside which the examples lie.

import { execFile } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

import { root } from "./run-command.mjs";

/**
 * @typedef {{
 *   folder: string,
 *   tarball: string,
 *   sizes: { size: number, unpackedSize: number, files: { path: string }[] },
 * }} Packed
 */

/** Packs what was built, and installs it with copies of the examples. @returns {Promise<Packed>} */
export async function installPacked() {
  const folder = join(root, ".chorus", "packed");
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const npm = (/** @type {string[]} */ words, /** @type {string} */ cwd) =>
    promisify(execFile)("npm", words, { cwd, shell: process.platform === "win32", maxBuffer: 2 ** 24 });
  const packing = npm(["pack", "--json", "--ignore-scripts", "--pack-destination", folder], root);
  const [sizes] = JSON.parse((await packing).stdout);
  const tarball = join(folder, sizes.filename);
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }\n');
  // Without one of its own, esbuild would take the repository's, whose paths lead to the sources.
  writeFileSync(join(folder, "tsconfig.json"), "{}\n");
  await npm(["install", "--offline", "--no-audit", "--no-fund", tarball], folder);
  cpSync(join(root, "examples"), folder, { recursive: true });
  // Its page names its own node_modules, as whoever copies the folder has them.
  symlinkSync(join(folder, "node_modules"), join(folder, "plain-page", "node_modules"), "junction");
  return { folder, tarball, sizes };
}
