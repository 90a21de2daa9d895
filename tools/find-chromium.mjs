// Which Chromium to use: CHROME_PATH, then the usual places, then the one Playwright downloads.

import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

import { chromium } from "playwright";

import { adapter, chromiumFlags } from "./chromium-flags.mjs";

const commands = ["google-chrome", "google-chrome-stable", "chromium", "chromium-browser", "microsoft-edge"];

/** Returns the paths of installed Chromiums, best first, without trying them. */
export function listChromiums() {
  const { CHROME_PATH } = process.env;
  const found = [...usualPlaces(), chromium.executablePath()].filter((path) => existsSync(path));
  return [...new Set(CHROME_PATH ? [CHROME_PATH, ...found] : found)];
}

function usualPlaces() {
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
  const folders = [...(env.PATH ?? "").split(delimiter), "/usr/bin", "/snap/bin"];
  return commands.flatMap((command) => folders.map((folder) => join(folder, command)));
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
    const browser = await chromium.launch({ executablePath, args: chromiumFlags(on), timeout: 60_000 });
    try {
      const page = await browser.newPage();
      // WebGPU is offered to secure pages only, and localhost counts as one. Nothing is sent: the route answers.
      await page.route("**", (route) => route.fulfill({ contentType: "text/html", body: "" }));
      await page.goto("http://localhost/");
      const found = await page.evaluate(async () => {
        const info = (await navigator.gpu?.requestAdapter())?.info;
        return info ? `${info.vendor} ${info.architecture}`.trim() : null;
      });
      return found
        ? { version: browser.version(), adapter: found }
        : { failure: "it starts, but offers no WebGPU adapter" };
    } finally {
      await browser.close();
    }
  } catch (error) {
    return { failure: `it does not start: ${String(error).split("\n")[0]}` };
  }
}

/**
 * The first that works.
 *
 * @returns {Promise<{ executablePath: string | null, report: string[] }>} the path, and what was seen on the way
 */
export async function findChromium() {
  const report = [];
  for (const executablePath of listChromiums()) {
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
