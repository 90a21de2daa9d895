import { spawn } from "node:child_process";
import { once } from "node:events";

import { expect, it } from "vitest";

import { root } from "./run-command.mjs";

/** The shell stays while the first command runs, and passes no signal on. */
const COMMAND = `node -e "console.log(process.pid); setInterval(() => {}, 1e6)" && true`;
const SCRIPT = `import { run } from "./tools/run-command.mjs"; await run(${JSON.stringify(COMMAND)});`;

it.each(/** @type {const} */ (["SIGTERM", "SIGINT"]))("what a command started ends with it, by %s", async (signal) => {
  await expectToEndAll(process.execPath, ["--input-type=module", "-e", SCRIPT], signal);
});

it("what a command started ends with npm's shell", async () => {
  await expectToEndAll("sh", ["-c", 'node --input-type=module -e "$SCRIPT" && true'], "SIGTERM");
});

/** Starts a program that runs COMMAND, ends it by a signal, and looks whether COMMAND ends. */
async function expectToEndAll(
  /** @type {string} */ program,
  /** @type {string[]} */ words,
  /** @type {NodeJS.Signals} */ signal,
) {
  const parent = spawn(program, words, {
    cwd: root,
    env: { ...process.env, npm_lifecycle_event: "demo", SCRIPT },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [pid] = await once(parent.stdout, "data");
  // All of them write to it: it closes when the last one has ended.
  let isClosed = false;
  parent.stdout.on("close", () => (isClosed = true));
  try {
    parent.kill(signal);
    await expect.poll(() => isClosed).toBe(true);
  } finally {
    if (!isClosed) process.kill(Number(pid), "SIGKILL");
  }
}
