import { spawnSync } from "node:child_process";

import { describe, expect, it } from "vitest";

import { root } from "./run-command.mjs";

/** Returns a command's output and exit code with these arguments. */
function type(/** @type {string} */ line) {
  const [tool = "", ...words] = line.split(" ");
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    [`${tool === "bench" ? "lab/runs" : "tools"}/${tool}.mjs`, ...words],
    {
      cwd: root,
      encoding: "utf8",
      timeout: 120_000,
    },
  );
  return { status, stdout, stderr };
}

describe("what a person types", () => {
  it.each([
    ["start --help", /Usage: npm start.*--no-open/s],
    ["demo --help", /Usage: npm run demo.*--backend/s],
    ["test --help", /Usage: npm test.*webkit/s],
    ["screenshots --help", /Usage: npm run screenshots/],
    ["serve-examples --help", /Usage: npm run examples/],
    ["bench --help", /Usage: npm run bench.*page.*peers/s],
    ["bench page --help", /Usage: npm run bench -- page.*--sections/s],
  ])("%s: is told what there is", (line, help) => {
    const { status, stdout, stderr } = type(line);
    expect(stdout).toMatch(help);
    expect([status, stderr]).toEqual([0, ""]);
  });

  it.each([
    ["start --no-opn", "Did you mean --no-open?"],
    ["demo --bakend cpu", "Did you mean --backend?"],
    ["test --hlep", "Did you mean --help?"],
    ["test unti", "There is no tier unti."],
    ["screenshots demoo", "Allowed choices are"],
    ["bench pagee", "Did you mean page?"],
    ["bench page --sise small", "Did you mean --size?"],
    ["bench page --sections modes,mode", "Allowed are startup"],
    ["bench page --sequences 1,zero", "whole numbers"],
    ["bench serve --url localhost:8000", "Give an address"],
    ["bench serve --rate -3", "a number above 0, or inf"],
    ["bench gpu --minutes ten", "a number above 0"],
  ])("%s: is refused in a sentence", (line, sentence) => {
    const { status, stderr } = type(line);
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(1);
  });
});
