// npm test: every tier, one after the other, whatever the others say.
// `node tools/test.mjs gpu matmul` runs only the named tiers; further words are file filters for their runners.

import "./require-node.mjs";

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { countPlaywright, countVitest } from "./count-results.mjs";
import { run } from "./run-command.mjs";
import { setUp } from "./setup.mjs";

/**
 * A tier's runner shows its own summary and leaves a JSON report besides; one without `count` is a single check.
 *
 * @typedef {{
 *   name: string,
 *   command: (words: { report: string, filters: string }) => string,
 *   count?: (report: any) => import("./count-results.mjs").Counts,
 *   browser?: boolean,
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
  { name: "gpu", command: vitest("gpu"), count: countVitest, browser: true },
  { name: "build", command: () => "npm run --silent build && node tools/bundle-size.mjs" },
  {
    name: "e2e",
    command: ({ filters }) => `playwright test --reporter=list,json ${filters}`,
    count: countPlaywright,
    browser: true,
  },
];

/** @returns {Promise<import("./count-results.mjs").Counts>} */
async function runTier(/** @type {Tier} */ { name, command, count }, /** @type {string} */ filters) {
  const folder = mkdtempSync(join(tmpdir(), "chorus-test-"));
  try {
    const report = join(folder, "report.json");
    const succeeded = await run(command({ report, filters }), { env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report } });
    const counts = count ? count(JSON.parse(readFileSync(report, "utf8"))) : { passed: Number(succeeded), failed: 0 };
    // What fails without a failed test (a check, a runner's own trouble) counts as one.
    return succeeded ? counts : { ...counts, failed: Math.max(1, counts.failed) };
  } catch (error) {
    console.error(`The tier ${name} left no report: ${String(error)}`);
    return { passed: 0, failed: 1 };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await setUp();

const words = process.argv.slice(2);
const named = tiers.filter(({ name }) => words.includes(name));
const chosen = named.length > 0 ? named : tiers;
const filters = words.filter((word) => !named.some(({ name }) => name === word)).join(" ");

if (chosen.some(({ browser }) => browser)) {
  const { ensureChromium } = await import("./install-chromium.mjs");
  process.env.CHORUS_CHROMIUM = await ensureChromium();
}

const total = { passed: 0, failed: 0 };
const lines = [];
for (const tier of chosen) {
  console.log(`\n── ${tier.name} ${"─".repeat(70 - tier.name.length)}`);
  const { passed, failed } = await runTier(tier, filters);
  total.passed += passed;
  total.failed += failed;
  lines.push(`${failed ? "✗" : "✓"} ${tier.name.padEnd(8)}${passed} passed, ${failed} failed`);
}

console.log(`\n${lines.join("\n")}\n\n${total.passed} passed, ${total.failed} failed`);
process.exitCode = total.failed ? 1 : 0;
