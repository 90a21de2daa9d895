import { spawn } from "node:child_process";
import { delimiter, join, resolve } from "node:path";

/** The repository's root: every command runs there, wherever it was called from. */
export const root = resolve(import.meta.dirname, "..");

// So that a command finds the installed packages' programs by name, as under `npm run`.
process.env.PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);

/**
 * Runs a shell command in the repository's root.
 *
 * @param {string} command
 * @param {{ env?: Record<string, string>, output?: "show" | "at-end" | "if-failed" | "hide" }} [options]
 * @returns {Promise<boolean>} whether it succeeded
 */
export function run(command, { env = {}, output = "show" } = {}) {
  return new Promise((settle) => {
    const child = spawn(command, {
      cwd: root,
      shell: true,
      env: { ...process.env, ...env },
      stdio: output === "show" ? "inherit" : ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    const keep = (/** @type {Buffer} */ bytes) => (printed += bytes);
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.on("error", () => settle(false));
    child.on("close", (code) => {
      if (output === "at-end" || (output === "if-failed" && code !== 0)) process.stderr.write(printed);
      settle(code === 0);
    });
  });
}
