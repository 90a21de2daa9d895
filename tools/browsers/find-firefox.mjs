// Which Firefox to test in: FIREFOX_PATH, then the usual places.

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
export function launchFirefox(/** @type {string} */ executablePath, preferences = {}) {
  const extraPrefsFirefox = { ...PREFERENCES, ...preferences };
  // Beside other work it starts slowly. One call may compile all kernels.
  const limits = { timeout: 120_000, protocolTimeout: 300_000 };
  return puppeteer.launch({ browser: "firefox", executablePath, headless: true, extraPrefsFirefox, ...limits });
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

/** Starts it, and returns its version and adapter. @throws {Error} where it can't be used */
async function tryFirefox(/** @type {string} */ executablePath) {
  const browser = await launchFirefox(executablePath);
  try {
    const page = await browser.newPage();
    // As for Chromium: a secure page, which no server sends.
    await page.setRequestInterception(true);
    page.on("request", (request) => void request.respond({ contentType: "text/html", body: "" }).catch(() => {}));
    await page.goto("http://localhost/");
    const found = await askAdapter(page);
    if (!found) throw new Error("it starts, but offers no WebGPU adapter");
    const name = found.description || (found.isFallbackAdapter ? "a software adapter" : "an adapter");
    return `${await browser.version()}, WebGPU on ${name}`;
  } finally {
    await browser.close();
  }
}

/** Installs Mesa's Vulkan on the CPU, too: Firefox finds it where there is no GPU. */
export function ensureFirefox() {
  return ensureIfPossible("Firefox with WebGPU", "FIREFOX_PATH", {
    list: listFirefoxes,
    attempt: tryFirefox,
    installations: () => aptGetInstall("firefox-esr mesa-vulkan-drivers libvulkan1"),
  });
}
