// Three tiers: "unit" is pure and runs in Node; "gpu" runs in Chromium, on its software adapter unless CHORUS_ADAPTER=real;
// "firefox" and "webkit" drive what was built in Firefox and WebKit.

import { playwright } from "@vitest/browser-playwright";
import { defineConfig, type TestProjectInlineConfiguration } from "vitest/config";

import { bundledHelper } from "./tests/cpu/bundled-helper.ts";
import { bundledWorkers } from "./tests/gpu/bundled-workers.ts";
import { testFlags } from "./tools/browsers/chromium-flags.mjs";
import { listChromiums } from "./tools/browsers/find-chromium.mjs";
import { fieldHelp } from "./tools/plugins/field-help-plugin.ts";

/**
 * How long a test and a poll may take. Tiers run side by side, perhaps beside other work: nothing here is slow by itself, and
 * what never ends is seen a little later.
 */
const PATIENCE = { testTimeout: 300_000, hookTimeout: 300_000, expect: { poll: { timeout: 120_000 } } };

// tools/test.mjs names one that it has tried; run by hand, the first that is there.
const executablePath = process.env.CHORUS_CHROMIUM ?? listChromiums({ forTests: true })[0];

/**
 * For what a browser or a server runs: a busy machine may let one of many hundred waits end in another order. `npm test` names a
 * test that passed only at the second try, and what it said at the first: it, or what it tests, is to be mended.
 */
const DRIVEN = { ...PATIENCE, retry: 1 };

/** In Chromium, one file after the other: they would share one software GPU. */
const gpuTests: TestProjectInlineConfiguration = {
  appType: "mpa",
  plugins: [bundledWorkers()],
  cacheDir: "node_modules/.vite/gpu",
  // Imported by the worker, where Vite's scan does not look: found in mid-run they would reload the page.
  optimizeDeps: { include: ["comlink", "idb-keyval", "@huggingface/jinja", "@huggingface/tokenizers"] },
  test: {
    name: "gpu",
    include: ["{src,tests}/**/*.gpu.test.ts"],
    fileParallelism: false,
    // Files share a page, and so a device with what was compiled on it.
    isolate: false,
    ...DRIVEN,
    browser: {
      enabled: true,
      headless: true,
      connectTimeout: PATIENCE.hookTimeout,
      screenshotFailures: false,
      instances: [{ browser: "chromium" }],
      provider: playwright({
        launchOptions: { args: testFlags(), ...(executablePath && { executablePath }) },
      }),
    },
  },
};

export default defineConfig({
  test: {
    projects: [
      {
        plugins: [bundledHelper(), fieldHelp()],
        test: {
          name: "unit",
          environment: "node",
          include: ["{src,lab,tests,tools}/**/*.test.{ts,tsx,mjs}"],
          // Packages that a benchmark installed have tests of their own.
          exclude: ["**/*.gpu.test.ts", "**/node_modules/**"],
          // By default Vitest leaves a core free: half of a machine with two.
          maxWorkers: "100%",
          // A worker for each file costs a third of the time. No module keeps what another file's tests could see.
          isolate: false,
          // So a global that one test replaces must not be the next file's.
          unstubGlobals: true,
          ...PATIENCE,
        },
      },
      gpuTests,
      {
        test: {
          name: "node",
          environment: "node",
          include: ["e2e/**/*.node.ts"],
          ...DRIVEN,
        },
      },
      // The package that npm would publish, in a project of its own: built by bundlers, opened in Chromium.
      {
        test: {
          name: "package",
          environment: "node",
          include: ["e2e/**/*.package.ts"],
          // Bundlers and examples: one builds while the other's page computes.
          maxWorkers: 2,
          ...DRIVEN,
        },
      },
      // The built library and app in Firefox, driven from Node: tools/test.mjs builds them first.
      {
        test: {
          name: "firefox",
          environment: "node",
          include: ["e2e/**/*.firefox.ts"],
          // Each file has a Firefox of its own: one starts while the other computes.
          maxWorkers: 2,
          ...DRIVEN,
        },
      },
      // The same in WebKit, whose driver tools/browsers/webdriver.mjs speaks to.
      {
        test: {
          name: "webkit",
          environment: "node",
          include: ["e2e/**/*.webkit.ts"],
          ...DRIVEN,
        },
      },
    ],
  },
});
