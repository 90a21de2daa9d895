// The built library in plain Node, on the CPU and on Dawn: no page, no worker, no globals of a browser.

import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { expect, it } from "vitest";

import { FAMILY_FIXTURES } from "../tests/models/family-fixtures.ts";

interface Found {
  readonly adapter: string;
  readonly expected: number[][];
  readonly together: { tokens: number[]; logprobs: number[] }[];
  readonly alone: { tokens: number[]; logprobs: number[] }[];
  readonly stats: { engine_steps_total: number; step_sequences_total: number };
}

const { CHORUS_DAWN: dawn = "", CHORUS_VULKAN: driver = "" } = process.env;

it("answers on the CPU, in a script of ten lines, with the same bits on one thread and on two", async () => {
  const answers = [];
  for (const threads of ["1", "2"]) {
    const script = promisify(execFile)(process.execPath, ["e2e/support/node-cpu.mjs", threads], { timeout: 280_000 });
    answers.push(JSON.parse((await script).stdout) as { adapter: string; choice: { message: { content: string } } });
  }
  expect(answers.map(({ adapter }) => adapter)).toEqual(["CPU, 1 thread", "CPU, 2 threads"]);
  expect(answers[0]?.choice.message.content).toContain("Paris");
  expect(answers[1]?.choice).toEqual(answers[0]?.choice);
});

it("compiles grammars in threads, which end with the engine", async () => {
  const script = promisify(execFile)(process.execPath, ["e2e/support/node-grammars.mjs"], { timeout: 280_000 });
  const { texts, bomb } = JSON.parse((await script).stdout) as { texts: string[]; bomb: string };
  for (const text of texts) expect(text).toMatch(/^(yes|no)$/);
  expect(bomb).toMatch(/^(invalid_value|[a-e]*)$/); // it may take too long
});

it("holds every family to its grammars, with the same bits together, with drafts, as alone", async () => {
  const script = ["e2e/support/node-family-grammars.mjs", ...FAMILY_FIXTURES];
  const { stdout } = await promisify(execFile)(process.execPath, script, { timeout: 280_000 });
  const found = JSON.parse(stdout) as { family: string; alone: { text: string }[]; together: unknown[] }[];
  expect(found.map(({ family }) => family)).toEqual(FAMILY_FIXTURES);
  for (const { family, alone, together } of found) {
    expect(together, family).toEqual(alone);
    expect(alone[0]?.text, family).toMatch(/^[a-e]{6}$/);
    expect(JSON.parse(alone[1]?.text ?? ""), family).toEqual([expect.any(Boolean), expect.any(Boolean)]);
  }
});

it.skipIf(!dawn)("has Hugging Face's tokens, the same bits alone and together", async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ["e2e/support/node-engine.mjs", dawn], {
    env: { ...process.env, ...(driver && { VK_DRIVER_FILES: driver }) },
    timeout: 280_000,
  });
  const { adapter, expected, together, alone, stats } = JSON.parse(stdout) as Found;
  expect(adapter).not.toBe("");
  expect(expected.length).toBeGreaterThan(3);
  expect(together.map(({ tokens }) => tokens)).toEqual(expected);
  expect(alone).toEqual(together);
  expect(stats.step_sequences_total).toBeGreaterThan(stats.engine_steps_total);
});
