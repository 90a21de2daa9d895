// npm test: runs every tier, two at a time, even if one fails.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { openCommand } from "./command-line.mjs";
import { countPlaywright, countVitest, describeCounts, sumCounts } from "./count-results.mjs";
import { root, run } from "./run-command.mjs";

/** @typedef {import("./count-results.mjs").Counts} Counts */

/**
 * A tier's runner shows its own summary and leaves a JSON report besides, which `count` reads; one without it is a
 * single check. `ofBuild`: it needs what was built.
 *
 * @typedef {{
 *   name: string,
 *   command: (words: { report: string, filters: string }) => string,
 *   count?: (report: any) => Counts,
 *   browser?: "chromium" | "firefox" | "webkit" | "dawn",
 *   ofBuild?: boolean,
 * }} Tier
 */

/** @type {(project: string) => Tier["command"]} */
const vitest =
  (project) =>
  ({ report, filters }) =>
    `vitest run --project ${project} --reporter=default --reporter=json --outputFile.json="${report}" ${filters}`;

/** @type {Tier[]} In the order in which they begin: those that take longest first. */
const tiers = [
  { name: "build", command: () => "npm run --silent build && node tools/bundle-size.mjs" },
  {
    // The linter knows the types, and says what is wrong with them: `tsc` would find all of them out once more.
    name: "lint",
    command: () => "oxlint --type-aware --type-check --deny-warnings && knip --include files,exports,types,duplicates",
  },
  { name: "format", command: () => "oxfmt --check" },
  {
    name: "e2e",
    command: ({ filters }) => `playwright test --reporter=list,json ${filters}`,
    count: countPlaywright,
    browser: "chromium",
    ofBuild: true,
  },
  // One browser: most of the time is spent compiling kernels, and two would compile many of them twice.
  { name: "gpu", command: vitest("gpu"), count: countVitest, browser: "chromium" },
  { name: "unit", command: vitest("unit"), count: countVitest },
  // The build, on a second implementation of WebGPU. Without one its tests are skipped.
  { name: "firefox", command: vitest("firefox"), count: countVitest, browser: "firefox", ofBuild: true },
  // The package that npm would publish, as its users build it.
  { name: "package", command: vitest("package"), count: countVitest, browser: "chromium", ofBuild: true },
  // The build, without a browser. Without WebGPU for Node its test is skipped.
  { name: "node", command: vitest("node"), count: countVitest, browser: "dawn", ofBuild: true },
  // The build, in a browser without WebGPU. Without such a browser its tests are skipped.
  { name: "webkit", command: vitest("webkit"), count: countVitest, browser: "webkit", ofBuild: true },
];

/** While one waits, for a page or for its own last test, the other computes. */
const MAX_AT_ONCE = 2;

/** @returns {Promise<Counts>} */
async function runTier(/** @type {Tier} */ { name, command, count }, /** @type {string} */ filters) {
  const folder = mkdtempSync(join(tmpdir(), "chorus-test-"));
  try {
    const report = join(folder, "report.json");
    const succeeded = await run(command({ report, filters }), {
      env: { PLAYWRIGHT_JSON_OUTPUT_FILE: report },
      ...(chosen.length > 1 && { name: name.padEnd(7) }),
    });
    const counts = count
      ? count(JSON.parse(readFileSync(report, "utf8")))
      : { passed: Number(succeeded), failed: 0, skipped: 0, failures: [], flaky: [] };
    // A failure without a failed test (a check, a runner's own error) counts as one.
    return succeeded || counts.failed > 0 ? counts : { ...counts, failed: 1, failures: [name] };
  } catch (error) {
    console.error(`The tier ${name} left no report: ${String(error)}`);
    return { passed: 0, failed: 1, skipped: 0, failures: [name], flaky: [] };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
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
  const { ensureChromium } = await import("./browsers/find-chromium.mjs");
  process.env.CHORUS_CHROMIUM = await ensureChromium({ forTests: true });
}

/** Finds or installs browsers, one after the other while tiers run: the systems' installers run one at a time. */
let prepared = Promise.resolve();
const prepare = (/** @type {Tier["browser"]} */ browser) =>
  (prepared = prepared.then(async () => {
    if (browser === "dawn") {
      const { ensureDawn } = await import("./browsers/install-dawn.mjs");
      const { module = "", driver = "" } = (await ensureDawn()) ?? {};
      Object.assign(process.env, { CHORUS_DAWN: module, CHORUS_VULKAN: driver });
    }
    if (browser === "firefox") {
      const { ensureFirefox } = await import("./browsers/find-firefox.mjs");
      process.env.CHORUS_FIREFOX = (await ensureFirefox()) ?? "";
    }
    if (browser === "webkit") {
      const { ensureWebKit } = await import("./browsers/find-webkit.mjs");
      process.env.CHORUS_WEBKIT = (await ensureWebKit()) ?? "";
    }
  }));

const waiting = chosen.map((tier) => ({ tier, isReady: prepare(tier.browser) }));
let setBuilt = () => {};
/** The build is the first to begin. Where it isn't chosen, what there is will do. */
const isBuilt = chosen.some(({ name }) => name === "build")
  ? new Promise((resolve) => (setBuilt = () => resolve(undefined)))
  : Promise.resolve();
/** @type {Map<Tier, { counts: Counts, seconds: number }>} */
const results = new Map();

async function runNext() {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const { tier, isReady } = next;
    await Promise.all([isReady, tier.ofBuild && isBuilt]);
    console.log(`\n── ${tier.name} ${"─".repeat(70 - tier.name.length)}`);
    const startMs = performance.now();
    const counts = await runTier(tier, filters);
    if (tier.name === "build") setBuilt();
    results.set(tier, { counts, seconds: Math.round((performance.now() - startMs) / 1000) });
  }
}
await Promise.all(Array.from({ length: MAX_AT_ONCE }, runNext));

const lines = chosen.flatMap((tier) => {
  const { counts, seconds } = results.get(tier) ?? {};
  return counts ? `${counts.failed ? "✗" : "✓"} ${tier.name.padEnd(8)}${describeCounts(counts)} (${seconds} s)` : [];
});
const total = sumCounts([...results.values()].map(({ counts }) => counts));
// Named again here, since a long output is read from its end.
const failures = total.failures.map((failure) => `✗ ${failure.replace(`${root}/`, "")}`);
const flaky = total.flaky.map((failure) => `↻ passed at the second try: ${failure.replace(`${root}/`, "")}`);
const blocks = [failures, flaky, lines, [describeCounts(total)]].filter((block) => block.length > 0);
console.log(`\n${blocks.map((block) => block.join("\n")).join("\n\n")}`);
process.exitCode = total.failed ? 1 : 0;
