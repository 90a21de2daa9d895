// Runs the benchmark page as a person would: opens it, presses Run, waits, and saves the JSON.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";

import { BUNDLE_LIMIT_KB, describeBundle, measureBundle } from "../../tools/bundle-size.mjs";
import { adapter } from "../../tools/browsers/chromium-flags.mjs";
import { firstWordMs } from "./first-word.mjs";
import { loadModule } from "./load-module.mjs";
import { ensureChromium } from "../../tools/browsers/install-chromium.mjs";
import { launchChromium } from "../../tools/launch-chromium.mjs";
import { root } from "../../tools/run-command.mjs";
import { buildAndServe } from "../../tools/serve-app.mjs";

const POLL_MS = 500;
const MAX_MINUTES = 240;

/**
 * @param {{ params: Record<string, unknown>, out: string, name?: string | undefined, note?: string | undefined }} options
 *   `params` of the page's address; the folder that the reports are written to; their name [the adapter and the model's];
 *   what readers should know
 */
export async function benchmarkPage({ params, out, name, note }) {
  const executablePath = await ensureChromium();
  const server = await buildAndServe(4173);
  const bundle = measureBundle();
  console.log(`\n${describeBundle(bundle)}`);
  const browser = await launchChromium(executablePath, { minutes: MAX_MINUTES });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const backend = typeof params.backend === "string" ? `backend=${params.backend}&` : "";
    const appUrl = `${server.url}?${backend}temperature=0`;
    // The second time counts: files and shaders are then in the browser's caches.
    await firstWordMs(page, appUrl);
    const app = appSection(await firstWordMs(page, appUrl), bundle.gzipBytes);

    await page.goto("about:blank");
    const given = Object.entries(params).filter(([, value]) => value !== undefined);
    const query = new URLSearchParams(given.map(([key, value]) => [key, String(value)]));
    await page.goto(`${server.url}#/bench?${query}`);
    const form = page.getByRole("complementary", { name: "What to run" }).locator("form");
    console.log(`\n${await form.getByText(/^About /).innerText()}`);
    await page.getByRole("button", { name: "Run" }).click();
    await followRun(page);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "JSON" }).click();
    const download = await downloading;
    const result = JSON.parse(readFileSync(await download.path(), "utf8"));
    result.sections.unshift(app);
    if (note) result.warnings.push(note);

    const report = await loadModule("lab/report/report-markdown.ts");
    console.log(`\n${report.reportMarkdown(result)}`);
    const folder = resolve(root, out);
    mkdirSync(folder, { recursive: true });
    const base =
      name ??
      `${result.environment.adapter.startsWith("CPU") ? "cpu" : adapter === "software" ? "swiftshader" : "gpu"}-${result.options.model.split("/").join("-")}`;
    const files = report.reportFiles(result, base);
    for (const file of files) writeFileSync(join(folder, file.name), file.text);
    console.log(`Written to ${out}: ${files.map((/** @type {{ name: string }} */ file) => file.name).join(", ")}.`);
  } finally {
    await browser.close();
    await server.close();
  }
}

/** Returns a section with the measurements from outside the page. */
function appSection(/** @type {number} */ wordMs, /** @type {number} */ gzipBytes) {
  return {
    id: "app",
    title: "The app",
    about:
      "The app is opened with files and shaders in the browser's caches, and asked a question at once. The bundle is what a " +
      "browser fetches before that, without the model and without what is loaded on demand.",
    seconds: wordMs / 1000,
    headlines: [
      { value: `${(wordMs / 1000).toFixed(2)} s`, label: "from opening the app to the first word" },
      { value: `${Math.round(gzipBytes / 1000)} kB`, label: `bundle, gzip (at most ${BUNDLE_LIMIT_KB})` },
    ],
    charts: [],
    tables: [],
    blocks: [],
    notes: [],
    data: { firstWordMs: wordMs, gzipBytes },
  };
}

/** Prints the progress until the run ends. Throws if it failed. */
async function followRun(/** @type {import("playwright").Page} */ page) {
  const aside = page.getByRole("complementary", { name: "What to run" });
  const stop = aside.getByRole("button", { name: "Stop" });
  const left = aside.getByText(/^About .* left$/);
  let section = "";
  while (await stop.isVisible()) {
    const [now = ""] = (await aside.locator("progress + p").allInnerTexts()).map((text) => text.split(":")[0] ?? "");
    if (now && now !== section) console.log(`${now}… (${(await left.allInnerTexts()).join()})`);
    section = now || section;
    await page.waitForTimeout(POLL_MS);
  }
  const ending = await aside.getByRole("status").innerText();
  if (!ending.startsWith("Done")) throw new Error(ending);
  console.log(ending);
}
