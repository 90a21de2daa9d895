import { spawn } from "node:child_process";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";

/** The repository's root: every command runs there, wherever it was called from. */
export const root = resolve(import.meta.dirname, "..");

// So that a command finds the installed packages' programs by name, as under `npm run`.
process.env.PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);

/**
 * Runs a shell command in the repository's root.
 *
 * @param {string} command
 * @param {{ env?: Record<string, string>, output?: "show" | "if-failed" | "hide", name?: string }} [options] with a name its
 * lines are shown after it, for commands that run side by side
 * @returns {Promise<boolean>} whether it succeeded
 */
export function run(command, { env = {}, output = "show", name } = {}) {
  return new Promise((settle) => {
    const child = spawn(command, {
      cwd: root,
      shell: true,
      env: { ...process.env, ...env },
      stdio: output === "show" && name === undefined ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      if (output === "show") createInterface(stream).on("line", (line) => console.log(`${name} │ ${line}`));
      else stream.on("data", (bytes) => (printed += bytes));
    }
    child.on("error", () => settle(false));
    child.on("close", (code) => {
      if (output === "if-failed" && code !== 0) process.stderr.write(printed);
      settle(code === 0);
    });
  });
}
