import { existsSync } from "node:fs";

import { chromium } from "playwright";

import { aptGetInstall, rootPrefix } from "./apt-get.mjs";
import { findChromium } from "./find-chromium.mjs";
import { INSTALL_MS, run } from "../run-command.mjs";

/**
 * The path of a Chromium that starts and has WebGPU; installs one where there is none. Where nothing works it says what
 * was tried and ends the process.
 *
 * @param {{ forTests?: boolean }} [options] see listChromiums
 * @returns {Promise<string>}
 */
export async function ensureChromium(options) {
  let { executablePath, report } = await findChromium(options);
  for (const command of installations(options)) {
    if (executablePath) break;
    console.log(`No Chromium with WebGPU here. Trying: ${command}`);
    const done = await run(command, {
      output: "hide",
      limitMs: INSTALL_MS,
      env: { DEBIAN_FRONTEND: "noninteractive" },
    });
    report.push(`${command}: ${done ? "done" : "failed"}`);
    if (done) {
      const found = await findChromium(options);
      executablePath = found.executablePath;
      report.push(...found.report);
    }
  }
  if (executablePath) {
    console.log(`Using ${report.at(-1)}`);
    return executablePath;
  }
  console.error(
    ["Chorus needs a Chromium with WebGPU (Chrome 113 or newer) and found none. Tried:"]
      .concat([...new Set(report)].map((line) => `  ${line}`))
      .concat(
        "Install Chrome, Chromium or Edge, or set CHROME_PATH to its program, or run a command above to see why it failed.",
      )
      .join("\n"),
  );
  process.exit(1);
}

/** Commands that may bring one, in order. Each is asked for when those before it were not enough. */
function* installations({ forTests = false } = {}) {
  yield "playwright install chromium";
  if (rootPrefix() !== null && existsSync(chromium.executablePath())) yield "playwright install-deps chromium";
  // Older systems have no package of the shell.
  for (const name of forTests ? ["chromium-headless-shell", "chromium"] : ["chromium"]) {
    const aptGet = aptGetInstall(name);
    if (aptGet) yield aptGet;
  }
}
