import { expect, test } from "vitest";

import { countPlaywright, countVitest, describeCounts, sumCounts } from "./count-results.mjs";

test("a Vitest report counts its tests, and a file that could not be loaded as one failure", () => {
  const report = {
    numPassedTests: 5,
    numFailedTests: 2,
    numPendingTests: 4,
    testResults: [
      { status: "failed", assertionResults: [{ status: "failed" }, { status: "failed" }] },
      { status: "passed", assertionResults: [{ status: "passed" }] },
      { status: "failed", assertionResults: [] },
    ],
  };
  expect(countVitest(report)).toEqual({ passed: 5, failed: 3, skipped: 4 });
});

test("a Playwright report counts a test that passed at a second try as passed, and loose errors as failures", () => {
  const report = { stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 0 }, errors: [{ message: "no server" }] };
  expect(countPlaywright(report)).toEqual({ passed: 5, failed: 2, skipped: 0 });
});

test("what was skipped is said, where anything was", () => {
  const whole = { passed: 5, failed: 0, skipped: 0 };
  expect(describeCounts(whole)).toBe("5 passed, 0 failed");
  expect(describeCounts(sumCounts([whole, { passed: 1, failed: 2, skipped: 3 }]))).toBe(
    "6 passed, 2 failed, 3 skipped",
  );
});
