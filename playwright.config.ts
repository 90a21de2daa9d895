// End to end: the built app in Chromium, served as any static host would, at the root and once more under a path.

import { createServer, type AddressInfo } from "node:net";
import { defineConfig } from "playwright/test";
import { testFlags } from "./tools/browsers/chromium-flags.mjs";
import { listChromiums } from "./tools/browsers/find-chromium.mjs";

// Playwright reads this file again in each of its processes; the first one's choice of ports is handed on.
process.env.CHORUS_E2E_PORTS ??= (await Promise.all([freePort(), freePort(), freePort()])).join();
const [rootPort, pathPort, fakePort] = process.env.CHORUS_E2E_PORTS.split(",");

const rootUrl = `http://127.0.0.1:${rootPort}/`;
// Not named in any file of the build: the app can't know it.
const pathUrl = `http://127.0.0.1:${pathPort}/some/where/`;
process.env.CHORUS_E2E_PATH_URL = pathUrl;
// The interface on an engine without a model (tests/app/fake-app.ts): what it does is quick, and known beforehand.
const fakeUrl = `http://127.0.0.1:${fakePort}/tests/app/fake-app.html`;
process.env.CHORUS_E2E_FAKE_URL = fakeUrl;

// tools/test.mjs names one that it has tried; run by hand, the first that is there.
const executablePath = process.env.CHORUS_CHROMIUM ?? listChromiums({ forTests: true })[0];

/** The list of chats at the side is hidden but in its own test: it has the words of the panes once more. */
const hidingChats = (url: string) => ({
  origin: new URL(url).origin,
  localStorage: [{ name: "chorus.chats-at-side", value: "hidden" }],
});

const serve = (url: string) => ({
  command: `vite preview --host 127.0.0.1 --port ${new URL(url).port} --strictPort --base ${new URL(url).pathname}`,
  url,
  reuseExistingServer: false,
});

export default defineConfig({
  testDir: "e2e",
  outputDir: "test-results",
  // Two at a time, each in a browser of its own: one waits for pages while the other's software GPU computes. That makes
  // about 1 GFLOP/s, hence the patience.
  workers: 2,
  timeout: 300_000,
  expect: { timeout: 120_000 },
  forbidOnly: Boolean(process.env.CI),
  reporter: "list",
  use: {
    baseURL: rootUrl,
    viewport: { width: 1440, height: 900 },
    storageState: { cookies: [], origins: [rootUrl, pathUrl, fakeUrl].map(hidingChats) },
    screenshot: "only-on-failure",
    // A first visit fetches and keeps the whole app with its model, which only its own tests need.
    serviceWorkers: "block",
    launchOptions: { args: testFlags(), ...(executablePath && { executablePath }) },
  },
  webServer: [
    serve(rootUrl),
    serve(pathUrl),
    {
      command: `node tools/serve-page.mjs tests/app/fake-app.html ${fakePort}`,
      url: fakeUrl,
      reuseExistingServer: false,
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
