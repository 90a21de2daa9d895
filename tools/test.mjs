// npm test: runs every tier, one after the other, even if one fails.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openCommand } from "./command-line.mjs";
import { countPlaywright, countVitest, describeCounts, sumCounts } from "./count-results.mjs";
import { run } from "./run-command.mjs";

/** @typedef {import("./count-results.mjs").Counts} Counts */

/**
 * A tier's runner shows its own summary and leaves a JSON report besides; one without `count` is a single check.
 * `shards` of it run side by side, each in a browser of its own.
 *
 * @typedef {{
 *   name: string,
 *   command: (words: { report: string, filters: string }) => string,
 *   count?: (report: any) => Counts,
 *   browser?: "chromium" | "firefox" | "webkit" | "dawn",
 *   shards?: number,
 * }} Tier
 */

/** @type {(project: string) => Tier["command"]} */
const vitest =
  (project) =>
  ({ report, filters }) =>
    `vitest run --project ${project} --reporter=default --reporter=json --outputFile.json="${report}" ${filters}`;

/** @type {Tier[]} */
const tiers = [
  { name: "types", command: () => "tsc" },
  { name: "lint", command: () => "oxlint --type-aware --deny-warnings" },
  { name: "format", command: () => "oxfmt --check" },
  { name: "unit", command: vitest("unit"), count: countVitest },
  // Most of the time is spent compiling kernels, which a browser's software adapter does one at a time.
  { name: "gpu", command: vitest("gpu"), count: countVitest, browser: "chromium", shards: 2 },
  { name: "build", command: () => "npm run --silent build && node tools/bundle-size.mjs" },
  {
    name: "e2e",
    command: ({ filters }) => `playwright test --reporter=list,json ${filters}`,
    count: countPlaywright,
    browser: "chromium",
  },
  // What npm would publish, as its users build it.
  { name: "package", command: vitest("package"), count: countVitest, browser: "chromium" },
  // What was built, without a browser. Where there is no WebGPU for Node its test is skipped.
  { name: "node", command: vitest("node"), count: countVitest, browser: "dawn" },
  // What was built, on a second implementation of WebGPU. Where there is none its tests are skipped.
  { name: "firefox", command: vitest("firefox"), count: countVitest, browser: "firefox" },
  // What was built, in an engine without WebGPU. Where there is none its tests are skipped.
  { name: "webkit", command: vitest("webkit"), count: countVitest, browser: "webkit" },
];

/**
 * @param {Tier} tier
 * @param {string} filters
 * @param {{ output?: "show" | "at-end", shard?: string }} [part]
 * @returns {Promise<Counts>}
 */
async function runPart({ name, command, count }, filters, { output = "show", shard = "" } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "chorus-test-"));
  try {
    const report = join(folder, "report.json");
    const words = shard ? `${filters} --shard=${shard}` : filters;
    const env = { PLAYWRIGHT_JSON_OUTPUT_FILE: report, CHORUS_SHARD: shard.replace("/", "-of-") };
    const succeeded = await run(command({ report, filters: words }), { env, output });
    const counts = count
      ? count(JSON.parse(readFileSync(report, "utf8")))
      : { passed: Number(succeeded), failed: 0, skipped: 0 };
    // A failure without a failed test (a check, a runner's own error) counts as one.
    return succeeded ? counts : { ...counts, failed: Math.max(1, counts.failed) };
  } catch (error) {
    console.error(`The tier ${name} left no report: ${String(error)}`);
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** @returns {Promise<Counts>} */
async function runTier(/** @type {Tier} */ tier, /** @type {string} */ filters) {
  const { shards = 1 } = tier;
  // With a filter, a shard may have no file.
  if (shards === 1 || filters) return runPart(tier, filters);
  const parts = await Promise.all(
    Array.from({ length: shards }, (_, i) =>
      // The first is shown while it runs, the others after it.
      runPart(tier, filters, { output: i === 0 ? "show" : "at-end", shard: `${i + 1}/${shards}` }),
    ),
  );
  return sumCounts(parts);
}

const command = await openCommand(
  "npm test --",
  `Runs every tier of tests: ${tiers.map(({ name }) => name).join(", ")}. Names of tiers choose some; further words are part ` +
    "of the names of their files, such as `npm test -- gpu matmul`.",
);
command.argument("[words...]", "tiers, and files of theirs");
const update = "writes what tests compare with, such as the parts of the documents that are made from the code";
const { args: words } = command.option("-u, --update", update).parse();
const named = tiers.filter(({ name }) => words.includes(name));
if (words.length > 0 && named.length === 0) {
  command.error(`There is no tier ${words[0]}. The tiers are ${tiers.map(({ name }) => name).join(", ")}.`);
}
const chosen = named.length > 0 ? named : tiers;
const files = words.filter((word) => !named.some(({ name }) => name === word));
const filters = [...files, ...(command.opts().update ? ["-u"] : [])].join(" ");

if (chosen.some(({ browser }) => browser === "chromium")) {
  const { ensureChromium } = await import("./install-chromium.mjs");
  process.env.CHORUS_CHROMIUM = await ensureChromium();
}

/** @type {Counts[]} */
const results = [];
const lines = [];
for (const tier of chosen) {
  console.log(`\n── ${tier.name} ${"─".repeat(70 - tier.name.length)}`);
  if (tier.browser === "dawn") {
    const { ensureDawn } = await import("./install-dawn.mjs");
    const { module = "", driver = "" } = (await ensureDawn()) ?? {};
    Object.assign(process.env, { CHORUS_DAWN: module, CHORUS_VULKAN: driver });
  }
  if (tier.browser === "firefox") {
    const { ensureFirefox } = await import("./install-firefox.mjs");
    process.env.CHORUS_FIREFOX = (await ensureFirefox()) ?? "";
  }
  if (tier.browser === "webkit") {
    const { ensureWebKit } = await import("./install-webkit.mjs");
    process.env.CHORUS_WEBKIT = (await ensureWebKit()) ?? "";
  }
  const counts = await runTier(tier, filters);
  results.push(counts);
  lines.push(`${counts.failed ? "✗" : "✓"} ${tier.name.padEnd(8)}${describeCounts(counts)}`);
}

const total = sumCounts(results);
console.log(`\n${lines.join("\n")}\n\n${describeCounts(total)}`);
process.exitCode = total.failed ? 1 : 0;
