// End to end: the built app in Chromium, served as any static host would.

import { createServer, type AddressInfo } from "node:net";
import { defineConfig } from "playwright/test";
import { testFlags } from "./tools/browsers/chromium-flags.mjs";
import { listChromiums } from "./tools/browsers/find-chromium.mjs";

// Playwright reads this file again in each of its processes; the first one's choice of ports is handed on.
process.env.CHORUS_E2E_PORTS ??= (await Promise.all([freePort(), freePort()])).join();
const [rootPort, fakePort] = process.env.CHORUS_E2E_PORTS.split(",");

const rootUrl = `http://127.0.0.1:${rootPort}/`;
// The interface on an engine without a model (tests/app/fake-app.ts): what it does is quick, and known beforehand.
const fakeUrl = `http://127.0.0.1:${fakePort}/tests/app/fake-app.html`;
process.env.CHORUS_E2E_FAKE_URL = fakeUrl;

// tools/test.mjs names one that it has tried; run by hand, the first that is there.
const executablePath = process.env.CHORUS_CHROMIUM ?? listChromiums({ forTests: true })[0];

/** The fake page is built first, perhaps beside other tiers. */
const SERVER_MS = 300_000;

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  // Two at a time, each in a browser of its own: one waits for pages while the other's software GPU computes. That makes
  // about 1 GFLOP/s, hence the patience.
  workers: 2,
  timeout: 300_000,
  expect: { timeout: 120_000 },
  // As in vitest.config.ts: a test that passes only at the second try is named, and is to be mended.
  retries: 1,
  forbidOnly: Boolean(process.env.CI),
  reporter: "list",
  use: {
    // One that has no end says which it was.
    actionTimeout: 120_000,
    baseURL: rootUrl,
    viewport: { width: 1440, height: 900 },
    screenshot: "only-on-failure",
    // A first visit fetches and keeps the whole app with its model, which only its own tests need.
    serviceWorkers: "block",
    launchOptions: { args: testFlags(), ...(executablePath && { executablePath }) },
  },
  webServer: [
    {
      command: `vite preview --host 127.0.0.1 --port ${rootPort} --strictPort`,
      url: rootUrl,
      reuseExistingServer: false,
      timeout: SERVER_MS,
    },
    {
      command: `node tools/serve-page.mjs tests/app/fake-app.html ${fakePort}`,
      url: fakeUrl,
      reuseExistingServer: false,
      timeout: SERVER_MS,
    },
  ],
});

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
