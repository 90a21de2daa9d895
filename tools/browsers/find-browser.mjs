// The common part of finding a Chromium, a Firefox and a WebKit.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { INSTALL_MS, run } from "../run-command.mjs";

/** Returns the programs that are there, best first, without trying them. What the environment names comes first, there or not. */
export function listPrograms(/** @type {string | undefined} */ named, /** @type {readonly string[]} */ places) {
  const found = places.filter((path) => existsSync(path));
  return [...new Set(named ? [named, ...found] : found)];
}

/**
 * Returns where a program may be, best first: for its commands in PATH, for its applications on macOS (with their program), for its
 * paths below Windows' folders of programs.
 *
 * @param {{ commands: readonly string[], applications: readonly (readonly [name: string, program: string])[],
 *   programs: readonly string[] }} names
 */
export function placesOf({ commands, applications, programs }) {
  const { env, platform } = process;
  if (platform === "darwin") {
    const folders = ["/Applications", join(env.HOME ?? "", "Applications")];
    return applications.flatMap(([name, program]) =>
      folders.map((folder) => join(folder, `${name}.app`, "Contents", "MacOS", program)),
    );
  }
  const ofWindows = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter((folder) => folder);
  const ofOthers = [...(env.PATH ?? "").split(delimiter), "/usr/bin", "/snap/bin"];
  const [names, folders] = platform === "win32" ? [programs, ofWindows] : [commands, ofOthers];
  return names.flatMap((name) => folders.map((folder) => join(folder ?? "", name)));
}

/**
 * `attempt` resolves to what a program is, and rejects where it can't be used; `installations` are commands that may bring one, each
 * of which is asked for when those before it were not enough.
 *
 * @typedef {{
 *   list: () => readonly string[],
 *   attempt: (path: string) => Promise<string>,
 *   installations: () => Iterable<string>,
 * }} Search
 */

/** Prints and returns the first program that works; tries to install one where there is none. `tried`: sentences. */
export async function ensureBrowser(
  /** @type {string} */ kind,
  /** @type {Search} */ { list, attempt, installations },
) {
  /** @type {Set<string>} */
  const tried = new Set();
  const find = async () => {
    for (const path of list()) {
      try {
        const found = await attempt(path);
        console.log(`Using ${path}: ${found}`);
        return path;
      } catch (error) {
        tried.add(`${path}: ${String(error).split("\n")[0]}`);
      }
    }
    return null;
  };
  let path = await find();
  if (path !== null) return { path, tried: [] };
  for (const command of installations()) {
    console.log(`No ${kind} here. Trying: ${command}`);
    const env = { DEBIAN_FRONTEND: "noninteractive" };
    const done = await run(command, { output: "hide", limitMs: INSTALL_MS, env });
    tried.add(`${command}: ${done ? "done" : "failed"}`);
    path = done ? await find() : null;
    if (path !== null) break;
  }
  return { path, tried: [...tried] };
}

/** Returns the path of a browser whose tests are skipped where it is not: a line then says what was tried. */
export async function ensureIfPossible(
  /** @type {string} */ kind,
  /** @type {string} */ variable,
  /** @type {Search} */ search,
) {
  const { path, tried } = await ensureBrowser(kind, search);
  if (path === null) {
    const what = tried.join("; ") || "none in the usual places";
    console.log(`Skipped: no ${kind} can be had here (${what}). ${variable} names one.`);
  }
  return path;
}
