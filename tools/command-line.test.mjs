import { spawnSync } from "node:child_process";

import { beforeAll, describe, expect, it } from "vitest";

import { root } from "./run-command.mjs";

/** @typedef {{ status: number | null, stdout: string, stderr: string }} Said */

const pathOf = (/** @type {string} */ tool) => `${tool === "bench" ? "lab/runs" : "tools"}/${tool}.mjs`;
const run = (/** @type {string[]} */ words) =>
  spawnSync(process.execPath, words, { cwd: root, encoding: "utf8", timeout: 120_000 });

/** @type {readonly (readonly [line: string, help: RegExp])[]} */
const HELPED = [
  ["start --help", /Usage: npm start.*--no-open/s],
  ["test --help", /Usage: npm test.*webkit/s],
  ["screenshots --help", /Usage: npm run screenshots/],
  ["serve-examples --help", /Usage: npm run examples/],
  ["bench --help", /Usage: npm run bench.*page.*peers/s],
  ["bench page --help", /Usage: npm run bench -- page.*--sections/s],
];
/** @type {readonly (readonly [line: string, sentence: string])[]} */
const REFUSED = [
  ["start --no-opn", "Did you mean --no-open?"],
  ["bench --bakend cpu", "Did you mean --backend?"],
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
];

describe("what a person types", () => {
  const lines = [...HELPED, ...REFUSED].map(([line]) => line);
  /** @type {Map<string, Said>} */
  const typed = new Map();
  beforeAll(() => {
    const asPaths = lines.map((line) => line.replace(/^\S+/, pathOf));
    const { stdout, stderr } = run(["tests/type-lines.mjs", JSON.stringify(asPaths)]);
    if (stderr) throw new Error(stderr);
    for (const [i, said] of /** @type {Said[]} */ (JSON.parse(stdout)).entries()) typed.set(lines[i] ?? "", said);
  });

  it.each(HELPED)("%s: is told what there is", (line, help) => {
    const { status, stdout, stderr } = typed.get(line) ?? expect.fail("not typed");
    expect(stdout).toMatch(help);
    expect([status, stderr]).toEqual([0, ""]);
  });

  it.each(REFUSED)("%s: is refused in a sentence", (line, sentence) => {
    const { status, stderr } = typed.get(line) ?? expect.fail("not typed");
    expect(stderr).toContain(sentence);
    expect(stderr).not.toMatch(/^\s+at /m);
    expect(status).toBe(1);
  });

  it.each(["start --help", "bench page --sise small"])("%s: ends a process of its own in the same way", (line) => {
    const [tool = "", ...words] = line.split(" ");
    const { status, stdout, stderr } = run([pathOf(tool), ...words]);
    expect({ status, stdout, stderr }).toEqual(typed.get(line));
  });
});
