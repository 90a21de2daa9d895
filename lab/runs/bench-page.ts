// Runs the benchmark page as a person would: opens it, presses Run, waits, and saves the JSON.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Page } from "playwright";

import { adapter } from "../../tools/browsers/chromium-flags.mjs";
import { ensureChromium } from "../../tools/browsers/find-chromium.mjs";
import { BUNDLE_LIMIT_KB, describeBundle, measureBundle } from "../../tools/bundle-size.mjs";
import { launchChromium } from "../../tools/launch-chromium.mjs";
import { root } from "../../tools/run-command.mjs";
import { buildAndServe } from "../../tools/serve-app.mjs";
import type { BenchResult, NamedSectionResult } from "../report/bench-result.ts";
import { reportFiles, reportMarkdown } from "../report/report-markdown.ts";
import type { OptionsOf } from "./bench-parts.ts";
import { firstWordMs } from "./first-word.ts";

const POLL_MS = 500;
const MAX_MINUTES = 240;

export async function run({ size, model, out = "docs/benchmarks", name, note, quick, ...options }: OptionsOf<"page">) {
  // Without any, the page's form would begin with a quick run.
  const params = { seed: "0", ...options, model: size ?? model, ...(quick && { quick: "" }) };
  const executablePath = await ensureChromium();
  const server = await buildAndServe(4173);
  const bundle = measureBundle();
  console.log(`\n${describeBundle(bundle)}`);
  const browser = await launchChromium(executablePath, { minutes: MAX_MINUTES });
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    const appUrl = `${server.url}?${options.backend ? `backend=${options.backend}&` : ""}temperature=0`;
    // The second time counts: files and shaders are then in the browser's caches.
    await firstWordMs(page, appUrl);
    const app = appSection(await firstWordMs(page, appUrl), bundle.gzipBytes);

    await page.goto("about:blank");
    const given = Object.entries(params).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
    await page.goto(`${server.url}#/bench?${new URLSearchParams(given)}`);
    const form = page.getByRole("complementary", { name: "What to run" }).locator("form");
    console.log(`\n${await form.getByText(/^About /).innerText()}`);
    await page.getByRole("button", { name: "Run" }).click();
    await followRun(page);
    const downloading = page.waitForEvent("download");
    await page.getByRole("button", { name: "JSON" }).click();
    const measured = JSON.parse(readFileSync(await (await downloading).path(), "utf8")) as BenchResult;
    const result: BenchResult = {
      ...measured,
      sections: [app, ...measured.sections],
      warnings: [...measured.warnings, ...(note ? [note] : [])],
    };

    console.log(`\n${reportMarkdown(result)}`);
    const folder = resolve(root, out);
    mkdirSync(folder, { recursive: true });
    const files = reportFiles(result, name ?? nameOf(result));
    for (const file of files) writeFileSync(join(folder, file.name), file.text);
    console.log(`Written to ${out}: ${files.map((file) => file.name).join(", ")}.`);
  } finally {
    await browser.close();
    await server.close();
  }
}

function nameOf({ environment, options }: BenchResult): string {
  const onGpu = adapter === "software" ? "swiftshader" : "gpu";
  return `${environment.adapter.startsWith("CPU") ? "cpu" : onGpu}-${options.model.split("/").join("-")}`;
}

/** Returns a section with the measurements from outside the page. */
function appSection(wordMs: number, gzipBytes: number): NamedSectionResult {
  return {
    id: "app",
    title: "The app",
    about:
      "The app is opened with files and shaders in the browser's caches, and asked a question at once. The bundle is what a " +
      "browser fetches before that, without the model and without what is loaded on demand.",
    seconds: wordMs / 1000,
    headlines: [
      [`${(wordMs / 1000).toFixed(2)} s`, "from opening the app to the first word"],
      [`${Math.round(gzipBytes / 1000)} kB`, `bundle, gzip (at most ${BUNDLE_LIMIT_KB})`],
    ],
    charts: [],
    tables: [],
    notes: [],
  };
}

/** Prints the progress until the run ends. @throws Error if it failed */
async function followRun(page: Page): Promise<void> {
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
