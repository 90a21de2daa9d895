// Which Chromium to use: CHROME_PATH, for tests the headless shell, the usual places, the one that Playwright downloads.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { chromium } from "playwright";

import { adapter } from "./chromium-flags.mjs";
import { launchChromium } from "../launch-chromium.mjs";
import { askAdapter } from "../time-limits.mjs";

const commands = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge"];
/** Chromium without what is around the page, which no test looks at: a page opens at half of the processor time. */
const shellCommands = ["chromium-headless-shell", "chrome-headless-shell"];

/**
 * Returns the paths of installed Chromiums, best first, without trying them.
 *
 * @param {{ forTests?: boolean }} [options] tests prefer the headless shell, which people don't use
 */
export function listChromiums({ forTests = false } = {}) {
  const { CHROME_PATH } = process.env;
  // A real GPU is asked for in the browser that people use.
  const places = forTests && adapter === "software" ? [...inPath(shellCommands), ...defaultPlaces()] : defaultPlaces();
  const found = [...places, chromium.executablePath()].filter((path) => existsSync(path));
  return [...new Set(CHROME_PATH ? [CHROME_PATH, ...found] : found)];
}

function defaultPlaces() {
  const { env, platform } = process;
  if (platform === "darwin") {
    return ["Google Chrome", "Chromium", "Microsoft Edge"].flatMap((name) =>
      ["/Applications", join(env.HOME ?? "", "Applications")].map((folder) =>
        join(folder, `${name}.app`, "Contents", "MacOS", name),
      ),
    );
  }
  if (platform === "win32") {
    const folders = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter((folder) => folder);
    return [
      "Google/Chrome/Application/chrome.exe",
      "Chromium/Application/chrome.exe",
      "Microsoft/Edge/Application/msedge.exe",
    ].flatMap((program) => folders.map((folder) => join(folder ?? "", program)));
  }
  return inPath(commands);
}

function inPath(/** @type {readonly string[]} */ names) {
  const folders = [...(process.env.PATH ?? "").split(delimiter), "/usr/bin", "/snap/bin"];
  return names.flatMap((name) => folders.map((folder) => join(folder, name)));
}

/**
 * Starts it and asks for a WebGPU adapter.
 *
 * @param {string} executablePath
 * @param {import("./chromium-flags.mjs").Adapter} [on]
 * @returns {Promise<{ version: string, adapter: string } | { failure: string }>}
 */
export async function tryChromium(executablePath, on = adapter) {
  try {
    const browser = await launchChromium(executablePath, { on });
    try {
      const page = await browser.newPage();
      // WebGPU is offered to secure pages only, and localhost counts as one. Nothing is sent: the route answers.
      await page.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
      await page.goto("http://localhost/");
      const found = await askAdapter(page);
      return found
        ? { version: browser.version(), adapter: `${found.vendor} ${found.architecture}`.trim() }
        : { failure: "it starts, but offers no WebGPU adapter" };
    } finally {
      await browser.close();
    }
  } catch (error) {
    return { failure: `it can't be used: ${String(error).split("\n")[0]}` };
  }
}

/**
 * The first that works.
 *
 * @param {{ forTests?: boolean }} [options] see listChromiums
 * @returns {Promise<{ executablePath: string | null, report: string[] }>} the path, and what was seen on the way
 */
export async function findChromium(options) {
  const report = [];
  for (const executablePath of listChromiums(options)) {
    const result = await tryChromium(executablePath);
    if ("failure" in result) {
      report.push(`${executablePath}: ${result.failure}`);
    } else {
      report.push(`${executablePath}: ${result.version}, WebGPU on ${result.adapter}`);
      return { executablePath, report };
    }
  }
  return { executablePath: null, report };
}
