import { chromium } from "playwright";

import { chromiumFlags } from "./browsers/chromium-flags.mjs";

const START_MS = 60_000;
/** Playwright has no limit for what a page computes. */
const DEFAULT_MINUTES = 60;

/** Starts a Chromium [Playwright's], which is closed after `minutes`: then whatever waits for it fails. */
export async function launchChromium(
  /** @type {string | undefined} */ executablePath,
  /** @type {{ on?: import("./browsers/chromium-flags.mjs").Adapter, args?: string[], minutes?: number }} */
  { on, args = [], minutes } = {},
) {
  const browser = await chromium.launch({
    args: [...chromiumFlags(on), ...args],
    timeout: START_MS,
    ...(executablePath && { executablePath }),
  });
  const stop = closeAfter(browser, minutes);
  browser.once("disconnected", stop);
  return browser;
}

function closeAfter(/** @type {{ close(): Promise<void> }} */ browser, minutes = DEFAULT_MINUTES) {
  const timer = setTimeout(() => {
    console.error(`Chromium is closed: its pages were not done within ${minutes} minutes.`);
    void browser.close();
  }, minutes * 60_000);
  return () => clearTimeout(timer);
}
