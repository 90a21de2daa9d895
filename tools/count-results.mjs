// Reduces the test runners' JSON reports to the numbers of passed and failed tests.

/** @typedef {{ passed: number, failed: number, skipped: number }} Counts */

/** "5 passed, 0 failed", and how many were skipped where any were. */
export function describeCounts(/** @type {Counts} */ { passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`;
}

/** @returns {Counts} */
export function sumCounts(/** @type {readonly Counts[]} */ counts) {
  const sum = (/** @type {keyof Counts} */ kind) => counts.reduce((total, one) => total + one[kind], 0);
  return { passed: sum("passed"), failed: sum("failed"), skipped: sum("skipped") };
}

/** @returns {Counts} of Vitest's JSON report. A file that fails to load counts as one failure. */
export function countVitest(/** @type {any} */ report) {
  const broken = report.testResults.filter(
    (/** @type {any} */ file) => file.status === "failed" && file.assertionResults.length === 0,
  );
  return {
    passed: report.numPassedTests,
    failed: report.numFailedTests + broken.length,
    skipped: report.numPendingTests,
  };
}

/** @returns {Counts} of Playwright's JSON report. An error outside of any test counts as one failure. */
export function countPlaywright(/** @type {any} */ report) {
  const { expected, unexpected, flaky, skipped } = report.stats;
  return { passed: expected + flaky, failed: unexpected + report.errors.length, skipped };
}
