import { expect, test } from "vitest";

import { countPlaywright, countVitest, describeCounts, sumCounts } from "./count-results.mjs";

test("a Vitest report counts its tests, names those of a second try, and a file that failed outside of its tests is one failure", () => {
  const report = {
    numPassedTests: 5,
    numPendingTests: 4,
    testResults: [
      {
        name: "src/a.test.ts",
        status: "failed",
        assertionResults: [
          {
            status: "failed",
            fullName: "a pool frees twice",
            failureMessages: [
              "AssertionError: \u001B[31mexpected 2 to be 1\u001B[39m\n\n    at pool.test.ts:3\n    at node_modules/runner",
            ],
          },
          { status: "passed", fullName: "a pool frees" },
          { status: "failed", fullName: "a pool grows" },
        ],
      },
      {
        name: "src/b.test.ts",
        status: "passed",
        assertionResults: [
          { status: "passed", fullName: "a queue ends", failureMessages: [] },
          { status: "passed", fullName: "a queue fills", failureMessages: ["Error: late"] },
        ],
      },
      { name: "src/c.test.ts", status: "failed", message: "no such file", assertionResults: [] },
      { name: "src/d.test.ts", status: "failed", assertionResults: [{ status: "passed", fullName: "a cache ends" }] },
    ],
  };
  const failures = [
    "src/a.test.ts a pool frees twice\n    AssertionError: expected 2 to be 1\n        at pool.test.ts:3",
    "src/a.test.ts a pool grows",
    "src/c.test.ts outside of its tests\n    no such file",
    "src/d.test.ts outside of its tests",
  ];
  const flaky = ["src/b.test.ts a queue fills\n    Error: late"];
  expect(countVitest(report)).toEqual({ passed: 5, failed: 4, skipped: 4, failures, flaky });
});

test("a Playwright report counts a test that passed at a second try as passed and names it, and loose errors are failures", () => {
  const spec = (/** @type {string} */ title, /** @type {boolean} */ ok) => ({
    ok,
    title,
    file: "chat.spec.ts",
    line: 7,
    tests: [
      { status: "expected", results: ok ? [{}] : [{ error: { message: `Received: 10\n${"again\n".repeat(200)}` } }] },
    ],
  });
  const late = { ...spec("waits", true), tests: [{ status: "flaky", results: [{ error: { message: "late" } }, {}] }] };
  const report = {
    stats: { expected: 4, unexpected: 1, flaky: 1, skipped: 0 },
    suites: [{ specs: [spec("streams", true), late], suites: [{ specs: [spec("stops", false)] }] }],
    errors: [{ message: "\u001B[31mno server\u001B[39m\n  at line 1" }, { value: "thrown" }, {}],
  };
  const stops = `chat.spec.ts:7 stops\n    Received: 10${"\n    again".repeat(11)}`;
  const failures = [stops, "no server\n      at line 1", "thrown", "an error"];
  const flaky = ["chat.spec.ts:7 waits\n    late"];
  expect(countPlaywright(report)).toEqual({ passed: 5, failed: 4, skipped: 0, failures, flaky });
});

test("what was skipped is said, where anything was", () => {
  const whole = { passed: 5, failed: 0, skipped: 0, failures: [], flaky: [] };
  expect(describeCounts(whole)).toBe("5 passed, 0 failed");
  const sum = sumCounts([whole, { passed: 1, failed: 2, skipped: 3, failures: ["a", "b"], flaky: ["c"] }]);
  expect(describeCounts(sum)).toBe("6 passed, 2 failed, 3 skipped");
  expect(sum).toMatchObject({ failures: ["a", "b"], flaky: ["c"] });
});
