import { spawn } from "node:child_process";
import { delimiter, join, resolve } from "node:path";
import { createInterface } from "node:readline";

/** The repository's root: every command runs there, wherever it was called from. */
export const root = resolve(import.meta.dirname, "..");

// So that a command finds the installed packages' programs by name, as under `npm run`.
process.env.PATH = [join(root, "node_modules", ".bin"), process.env.PATH].join(delimiter);

// npm passes SIGTERM to its shell alone, which ends without us: then this process has another parent.
if (process.env.npm_lifecycle_event) {
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && process.exit(143), 500).unref();
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"];

/**
 * Whether the command gets a process group of its own. On Windows there are none, and sudo knows a password's terminal by its
 * session: there only the shell itself is ended.
 */
const hasGroup = (/** @type {string} */ command) => process.platform !== "win32" && !command.startsWith("sudo ");

/** Most that downloading and installing packages may take. */
export const INSTALL_MS = 20 * 60_000;
/** Longer than any of the commands takes. */
export const MAX_MS = 3 * 3_600_000;

/**
 * Runs a shell command in the repository's root. It ends with this process, and so does all that it still waits for.
 *
 * @param {string} command
 * @param {{ env?: Record<string, string>, output?: "show" | "if-failed" | "hide", name?: string, limitMs?: number }} [options] with a name its
 * lines are shown after it, for commands that run side by side. After `limitMs` it is ended, and has failed
 * @returns {Promise<boolean>} whether it succeeded
 */
export function run(command, { env = {}, output = "show", name, limitMs = MAX_MS } = {}) {
  return new Promise((settle) => {
    const shown = output === "show" && name === undefined ? "inherit" : "pipe";
    const child = spawn(command, {
      cwd: root,
      shell: true,
      env: { ...process.env, ...env },
      // In a group of its own no command may read from the terminal.
      stdio: ["ignore", shown, shown],
      detached: hasGroup(command),
    });
    const { end, stopWatching } = endWithThisProcess(child, hasGroup(command));
    const timer = setTimeout(() => {
      console.error(`It is ended, as it took more than ${limitMs / 60_000} minutes: ${command}`);
      end();
    }, limitMs);
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      if (output === "show") createInterface(stream).on("line", (line) => console.log(`${name} │ ${line}`));
      else stream.on("data", (bytes) => (printed += bytes));
    }
    child.on("error", () => {
      clearTimeout(timer);
      settle(false);
    });
    child.on("exit", stopWatching);
    child.on("close", (code) => {
      clearTimeout(timer);
      if (output === "if-failed" && code !== 0) process.stderr.write(printed);
      settle(code === 0);
    });
  });
}

/** Ends the child's group when this process ends, unless it stops watching: a shell passes no signal on. */
function endWithThisProcess(
  /** @type {import("node:child_process").ChildProcess} */ child,
  /** @type {boolean} */ isGroup,
) {
  const end = () => {
    try {
      if (isGroup && child.pid !== undefined) process.kill(-child.pid);
      else child.kill();
    } catch {
      // It has just ended. What else is to be ended with this process must be, too.
    }
  };
  const leave = (/** @type {string} */ _, /** @type {number} */ number) => process.exit(128 + number);
  process.on("exit", end);
  for (const signal of SIGNALS) process.on(signal, leave);
  const stopWatching = () => {
    process.off("exit", end);
    for (const signal of SIGNALS) process.off(signal, leave);
  };
  return { end, stopWatching };
}
