import { existsSync } from "node:fs";

import { chromium } from "playwright";

import { aptGetInstall, rootPrefix } from "./apt-get.mjs";
import { ensureBrowser } from "./find-browser.mjs";
import { listChromiums, tryChromium } from "./find-chromium.mjs";

/**
 * The path of a Chromium that starts and has WebGPU; installs one where there is none. Where nothing works it says what
 * was tried and ends the process.
 *
 * @param {{ forTests?: boolean, on?: import("./chromium-flags.mjs").Adapter }} [options] see listChromiums and tryChromium
 * @returns {Promise<string>}
 */
export async function ensureChromium(options) {
  const { path, tried } = await ensureBrowser("Chromium with WebGPU", {
    list: () => listChromiums(options),
    async attempt(executablePath) {
      const { version, adapter } = await tryChromium(executablePath, options?.on);
      return `${version}, WebGPU on ${adapter}`;
    },
    installations: () => installations(options),
  });
  if (path !== null) return path;
  console.error(
    ["Chorus needs a Chromium with WebGPU (Chrome 113 or newer) and found none. Tried:"]
      .concat(tried.map((line) => `  ${line}`))
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
  for (const name of forTests ? ["chromium-headless-shell", "chromium"] : ["chromium"]) yield* aptGetInstall(name);
}
