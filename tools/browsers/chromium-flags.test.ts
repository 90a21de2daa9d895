// What Playwright disables for the sake of tests is named again in our own list, which replaces it.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";

import { testFlags } from "./chromium-flags.mjs";

/** Playwright's list isn't public: when an update moves it, this test says that both lists must be compared by hand. */
function featuresThatPlaywrightDisables(): string[] {
  const folder = dirname(createRequire(import.meta.url).resolve("playwright-core/package.json"));
  const source = readFileSync(join(folder, "lib/coreBundle.js"), "utf8");
  const list = /\bdisabledFeatures = \[(.*?)\n\s*\]/s.exec(source)?.[1] ?? "";
  return Array.from(list.matchAll(/^\s*"(\w+)"/gm), ([, name]) => name!);
}

it("disables each feature of Chromium that Playwright disables", () => {
  // Edge's own begin with "ms".
  const features = featuresThatPlaywrightDisables().filter((name) => !name.startsWith("ms"));
  expect(features, "found in playwright-core").toContain("PaintHolding");
  const disabled = testFlags()
    .find((flag) => flag.startsWith("--disable-features="))!
    .split(/[=,]/);
  expect(disabled).toEqual(expect.arrayContaining(features));
});
