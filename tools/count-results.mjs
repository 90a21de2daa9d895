// Reduces the test runners' JSON reports to the numbers of passed and failed tests, and to what failed and why.

import { stripVTControlCharacters } from "node:util";

/**
 * A failure is the name of a test, and below it what its runner said.
 *
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Counts
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
export function describeCounts(/** @type {Omit<Counts, "failures">} */ { passed, failed, skipped }) {
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
  };
}

/** @returns {Counts} of Vitest's JSON report. A file that fails outside of its tests counts as one failure. */
export function countVitest(/** @type {any} */ report) {
  /** @type {string[]} */
  const failures = report.testResults.flatMap((/** @type {any} */ { name, status, assertionResults, message }) => {
    const failed = assertionResults.filter((/** @type {any} */ one) => one.status === "failed");
    // It could not be loaded, or what runs before or after its tests failed.
    if (status === "failed" && failed.length === 0) return [describeFailure(`${name} outside of its tests`, message)];
    return failed.map((/** @type {any} */ { fullName, failureMessages = [] }) =>
      describeFailure(`${name} ${fullName}`, failureMessages[0]),
    );
  });
  return { passed: report.numPassedTests, failed: failures.length, skipped: report.numPendingTests, failures };
}

/** @returns {Counts} of Playwright's JSON report. An error outside of any test counts as one failure. */
export function countPlaywright(/** @type {any} */ report) {
  const { expected, flaky, skipped } = report.stats;
  /** @type {(suite: any) => string[]} */
  const ofSuite = ({ specs = [], suites = [] }) => [
    ...specs
      .filter((/** @type {any} */ { ok }) => !ok)
      .map((/** @type {any} */ { file, line, title, tests = [] }) => {
        const results = tests.flatMap((/** @type {any} */ one) => one.results);
        return describeFailure(
          `${file}:${line} ${title}`,
          results.find((/** @type {any} */ { error }) => error)?.error.message,
        );
      }),
    ...suites.flatMap(ofSuite),
  ];
  const looseErrors = report.errors.map((/** @type {any} */ { message, value = "an error" }) =>
    shorten(message ?? value).join("\n    "),
  );
  const failures = [...ofSuite(report), ...looseErrors];
  return { passed: expected + flaky, failed: failures.length, skipped, failures };
}
