// Reduces the test runners' JSON reports to the numbers of passed and failed tests.

/** @typedef {{ passed: number, failed: number }} Counts */

/** @returns {Counts} of Vitest's JSON report. A file that fails to load counts as one failure. */
export function countVitest(/** @type {any} */ report) {
  const broken = report.testResults.filter(
    (/** @type {any} */ file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
}

/** @returns {Counts} of Playwright's JSON report. An error outside of any test counts as one failure. */
export function countPlaywright(/** @type {any} */ report) {
  const { expected, unexpected, flaky } = report.stats;
  return { passed: expected + flaky, failed: unexpected + report.errors.length };
}
