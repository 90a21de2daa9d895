// Two tiers: "unit" is pure and runs in Node; "gpu" runs in Chromium, on its software adapter unless CHORUS_ADAPTER=real.

import { playwright } from "@vitest/browser-playwright";
import { defineConfig } from "vitest/config";

import { chromiumFlags } from "./tools/chromium-flags.mjs";
import { listChromiums } from "./tools/find-chromium.mjs";

// tools/test.mjs names one that it has tried; run by hand, the first that is there.
const executablePath = process.env.CHORUS_CHROMIUM ?? listChromiums()[0];

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          environment: "node",
          include: ["src/**/*.test.{ts,tsx}", "tools/**/*.test.mjs"],
          exclude: ["src/**/*.gpu.test.ts"],
        },
      },
      {
        appType: "mpa",
        // Imported by the worker, where Vite's scan does not look: found in mid-run they would reload the page.
        optimizeDeps: { include: ["comlink", "@huggingface/jinja", "@huggingface/tokenizers"] },
        test: {
          name: "gpu",
          include: ["src/**/*.gpu.test.ts"],
          // One file after the other: they would share one software GPU. That makes about 1 GFLOP/s, hence the patience.
          fileParallelism: false,
          testTimeout: 60_000,
          hookTimeout: 60_000,
          browser: {
            enabled: true,
            headless: true,
            screenshotFailures: false,
            instances: [{ browser: "chromium" }],
            provider: playwright({
              launchOptions: { args: chromiumFlags(), ...(executablePath && { executablePath }) },
            }),
          },
        },
      },
    ],
  },
});
