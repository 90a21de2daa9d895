import { expect, test } from "vitest";

import { countPlaywright, countVitest } from "./count-results.mjs";

test("a Vitest report counts its tests, and a file that could not be loaded as one failure", () => {
  const report = {
    numPassedTests: 5,
    numFailedTests: 2,
    testResults: [
      { status: "failed", assertionResults: [{ status: "failed" }, { status: "failed" }] },
      { status: "passed", assertionResults: [{ status: "passed" }] },
      { status: "failed", assertionResults: [] },
    ],
  };
  expect(countVitest(report)).toEqual({ passed: 5, failed: 3 });
});

test("a Playwright report counts a test that passed at a second try as passed, and loose errors as failures", () => {
  const report = { stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 0 }, errors: [{ message: "no server" }] };
  expect(countPlaywright(report)).toEqual({ passed: 5, failed: 2 });
});
