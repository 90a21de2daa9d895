import { spawn } from "node:child_process";
import { delimiter, join, resolve } from "node:path";

/** The repository's root: every command runs there, wherever it was called from. */
export const root = resolve(import.meta.dirname, "..");

// So that a command finds the installed packages' programs by name, as under `npm run`.
process.env.PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);

/**
 * Runs a shell command in the repository's root. A quiet one shows what it printed only if it failed.
 *
 * @param {string} command
 * @param {{ env?: Record<string, string>, quiet?: boolean }} [options]
 * @returns {Promise<boolean>} whether it succeeded
 */
export function run(command, { env = {}, quiet = false } = {}) {
  return new Promise((settle) => {
    const child = spawn(command, {
      cwd: root,
      shell: true,
      env: { ...process.env, ...env },
      stdio: quiet ? ["ignore", "pipe", "pipe"] : "inherit",
    });
    let printed = "";
    const keep = (/** @type {Buffer} */ bytes) => (printed += bytes);
    child.stdout?.on("data", keep);
    child.stderr?.on("data", keep);
    child.on("error", () => settle(false));
    child.on("close", (code) => {
      if (quiet && code !== 0) process.stderr.write(printed);
      settle(code === 0);
    });
  });
}
