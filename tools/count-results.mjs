// Reduces the test runners' JSON reports to the numbers of passed and failed tests, and to what failed, also once, and why.

import { stripVTControlCharacters } from "node:util";

/**
 * A failure is the name of a test, and below it what its runner said. `flaky`: tests that failed and then passed.
 *
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[], flaky: string[] }} Counts
 */

/** The expected and the actual value come first; a runner's attempts in between can be a hundred lines. */
const MAX_LINES = 12;

/** Returns the start of what a runner said, without colours, empty lines, and calls outside of the project. */
function shorten(/** @type {string | undefined} */ message = "") {
  const lines = stripVTControlCharacters(message).split("\n");
  return lines.filter((line) => line.trim() && !line.includes("node_modules")).slice(0, MAX_LINES);
}

const describeFailure = (/** @type {string} */ name, /** @type {string | undefined} */ message) =>
  [name, ...shorten(message).map((line) => `    ${line}`)].join("\n");

/** "5 passed, 0 failed", and how many were skipped where any were. */
export function describeCounts(/** @type {Omit<Counts, "failures" | "flaky">} */ { passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** @returns {Counts} */
export function sumCounts(/** @type {readonly Counts[]} */ counts) {
  const sum = (/** @type {"passed" | "failed" | "skipped"} */ kind) =>
    counts.reduce((total, one) => total + one[kind], 0);
  return {
    passed: sum("passed"),
    failed: sum("failed"),
    skipped: sum("skipped"),
    failures: counts.flatMap(({ failures }) => failures),
    flaky: counts.flatMap(({ flaky }) => flaky),
  };
}

/** @returns {Counts} of Vitest's JSON report. A file that fails outside of its tests counts as one failure. */
export function countVitest(/** @type {any} */ report) {
  const describe = (/** @type {string} */ file, /** @type {any} */ { fullName, failureMessages = [] }) =>
    describeFailure(`${file} ${fullName}`, failureMessages[0]);
  /** @type {string[]} */
  const failures = report.testResults.flatMap((/** @type {any} */ { name, status, assertionResults, message }) => {
    const failed = assertionResults.filter((/** @type {any} */ one) => one.status === "failed");
    // It could not be loaded, or what runs before or after its tests failed.
    if (status === "failed" && failed.length === 0) return [describeFailure(`${name} outside of its tests`, message)];
    return failed.map((/** @type {any} */ one) => describe(name, one));
  });
  const flaky = report.testResults.flatMap((/** @type {any} */ { name, assertionResults }) =>
    assertionResults
      .filter((/** @type {any} */ one) => one.status === "passed" && one.failureMessages?.length > 0)
      .map((/** @type {any} */ one) => describe(name, one)),
  );
  const { numPassedTests: passed, numPendingTests: skipped } = report;
  return { passed, failed: failures.length, skipped, failures, flaky };
}

/** @returns {Counts} of Playwright's JSON report. An error outside of any test counts as one failure. */
export function countPlaywright(/** @type {any} */ report) {
  const { expected, flaky, skipped } = report.stats;
  /** @type {(suite: any) => any[]} */
  const specsOf = ({ specs = [], suites = [] }) => [...specs, ...suites.flatMap(specsOf)];
  const all = specsOf(report).map((/** @type {any} */ { ok, file, line, title, tests = [] }) => {
    const results = tests.flatMap((/** @type {any} */ one) => one.results);
    const { error } = results.find((/** @type {any} */ one) => one.error) ?? {};
    const isFlaky = tests.some((/** @type {any} */ { status }) => status === "flaky");
    return { ok, isFlaky, described: describeFailure(`${file}:${line} ${title}`, error?.message) };
  });
  const looseErrors = report.errors.map((/** @type {any} */ { message, value = "an error" }) =>
    shorten(message ?? value).join("\n    "),
  );
  const failures = [...all.filter(({ ok }) => !ok).map(({ described }) => described), ...looseErrors];
  const flakySpecs = all.filter(({ isFlaky }) => isFlaky).map(({ described }) => described);
  return { passed: expected + flaky, failed: failures.length, skipped, failures, flaky: flakySpecs };
}
