// Which Firefox to test in: FIREFOX_PATH, then the usual places.

import { existsSync } from "node:fs";
import { createServer } from "node:http";
import { delimiter, join } from "node:path";

import puppeteer from "puppeteer-core";

import { askAdapter } from "../time-limits.mjs";

/** Switches WebGPU on where a release keeps it off: on Linux, and on software adapters such as Mesa's. */
const PREFERENCES = {
  "dom.webgpu.enabled": true,
  "dom.webgpu.workers.enabled": true,
  "gfx.webgpu.ignore-blocklist": true,
};

/** A Firefox without a window. Playwright has no way to drive one that it did not patch itself; puppeteer-core speaks WebDriver BiDi. */
export function launchFirefox(/** @type {string} */ executablePath) {
  return puppeteer.launch({ browser: "firefox", executablePath, headless: true, extraPrefsFirefox: PREFERENCES });
}

/** Paths of every Firefox that seems to be there, best first; none has been tried. */
export function listFirefoxes() {
  const { FIREFOX_PATH } = process.env;
  const found = defaultPlaces().filter((path) => existsSync(path));
  return [...new Set(FIREFOX_PATH ? [FIREFOX_PATH, ...found] : found)];
}

function defaultPlaces() {
  const { env, platform } = process;
  if (platform === "darwin") {
    return ["/Applications", join(env.HOME ?? "", "Applications")].map((folder) =>
      join(folder, "Firefox.app", "Contents", "MacOS", "firefox"),
    );
  }
  if (platform === "win32") {
    const folders = [env.PROGRAMFILES, env["PROGRAMFILES(X86)"], env.LOCALAPPDATA].filter((folder) => folder);
    return folders.map((folder) => join(folder ?? "", "Mozilla Firefox", "firefox.exe"));
  }
  const folders = [...(env.PATH ?? "").split(delimiter), "/usr/bin"];
  return ["firefox-esr", "firefox"].flatMap((command) => folders.map((folder) => join(folder, command)));
}

/**
 * Starts it and asks for a WebGPU adapter.
 *
 * @param {string} executablePath
 * @returns {Promise<{ version: string, adapter: string } | { failure: string }>}
 */
async function tryFirefox(executablePath) {
  // WebGPU is offered to secure pages only, and this machine's own count as such.
  const server = createServer((_, response) => response.setHeader("Content-Type", "text/html").end());
  await new Promise((listening) => server.listen(0, "127.0.0.1", () => listening(undefined)));
  try {
    const browser = await launchFirefox(executablePath);
    try {
      const page = await browser.newPage();
      const address = /** @type {import("node:net").AddressInfo} */ (server.address());
      await page.goto(`http://127.0.0.1:${address.port}/`);
      const found = await askAdapter(page);
      const name = found && (found.description || (found.isFallbackAdapter ? "a software adapter" : "an adapter"));
      return name
        ? { version: await browser.version(), adapter: name }
        : { failure: "it starts, but offers no WebGPU adapter" };
    } finally {
      await browser.close();
    }
  } catch (error) {
    return { failure: `it can't be used: ${String(error).split("\n")[0]}` };
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/**
 * The first that works.
 *
 * @returns {Promise<{ executablePath: string | null, report: string[] }>} the path, and what was seen on the way
 */
export async function findFirefox() {
  const report = [];
  for (const executablePath of listFirefoxes()) {
    const result = await tryFirefox(executablePath);
    if ("failure" in result) {
      report.push(`${executablePath}: ${result.failure}`);
    } else {
      report.push(`${executablePath}: ${result.version}, WebGPU on ${result.adapter}`);
      return { executablePath, report };
    }
  }
  return { executablePath: null, report };
}
