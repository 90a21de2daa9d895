import { chromium, type Browser } from "playwright";

import { testFlags } from "../../tools/browsers/chromium-flags.mjs";
import { listChromiums } from "../../tools/browsers/find-chromium.mjs";

/** For each thing that is waited for, as elsewhere: without a test runner of its own Playwright waits for half a minute. */
export const PATIENCE_MS = 120_000;

export function launchChromium(): Promise<Browser> {
  // tools/test.mjs names one that it has tried; run by hand, the first that is there.
  const executablePath = process.env.CHORUS_CHROMIUM ?? listChromiums({ forTests: true })[0];
  return chromium.launch({ args: testFlags(), ...(executablePath && { executablePath }) });
}
