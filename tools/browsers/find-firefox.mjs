// Which Firefox to test in: FIREFOX_PATH, then the usual places.

import { createServer } from "node:http";

import puppeteer from "puppeteer-core";

import { aptGetInstall } from "./apt-get.mjs";
import { ensureIfPossible, listPrograms, placesOf } from "./find-browser.mjs";
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
  const places = placesOf({
    commands: ["firefox-esr", "firefox"],
    applications: [["Firefox", "firefox"]],
    programs: ["Mozilla Firefox/firefox.exe"],
  });
  return listPrograms(process.env.FIREFOX_PATH, places);
}

/**
 * Starts it and asks for a WebGPU adapter.
 *
 * @param {string} executablePath
 * @returns {Promise<string>} its version and adapter
 * @throws {Error} where it can't be used
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
      if (!found) throw new Error("it starts, but offers no WebGPU adapter");
      const name = found.description || (found.isFallbackAdapter ? "a software adapter" : "an adapter");
      return `${await browser.version()}, WebGPU on ${name}`;
    } finally {
      await browser.close();
    }
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/**
 * Returns the path of a Firefox that starts and has WebGPU; installs one where there is none, with Mesa's Vulkan on the CPU, which it
 * finds where there is no GPU. null where none can be had: a line then says what was tried.
 */
export function ensureFirefox() {
  return ensureIfPossible("Firefox with WebGPU", "FIREFOX_PATH", {
    list: listFirefoxes,
    attempt: tryFirefox,
    installations: () => aptGetInstall("firefox-esr mesa-vulkan-drivers libvulkan1"),
  });
}
