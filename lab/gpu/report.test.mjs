import { expect, it } from "vitest";

import { gpuReportMarkdown } from "./report.ts";

const SECTION = {
  id: "s",
  title: "Speed",
  about: "How fast.",
  seconds: 1,
  charts: [],
  blocks: [],
  notes: [],
};
const section = (/** @type {string} */ value, /** @type {string} */ verdict) => ({
  ...SECTION,
  headlines: [/** @type {const} */ ([value, "of tokens, with 8 at once"])],
  tables: [{ title: "Checks", columns: ["What", "verdict"], rows: [["bits", verdict]] }],
});
const HOME = { runtime: "Node 20", adapter: "An adapter", seconds: 12, missing: [], toCome: [] };
const REPORT = {
  version: "1.2.3",
  command: "npm run bench -- gpu",
  startedAt: "2026-01-02T03:04:05.000Z",
  machine: "A machine",
  minutes: 10,
  missing: [],
};
const groupOf = (/** @type {string | null} */ model, /** @type {ReturnType<typeof section>[]} */ sections) => ({
  model,
  environment: null,
  sections,
});

it("has each headline in one table, a column for each home and model", () => {
  const text = gpuReportMarkdown({
    ...REPORT,
    homes: [
      { ...HOME, home: "chromium", groups: [groupOf("gpt2", [section("5", "right")])] },
      { ...HOME, home: "node", groups: [groupOf(null, []), groupOf("gpt2", [section("7", "right")])] },
    ],
  });
  expect(text).toContain("|  | Chromium, gpt2 | Node, gpt2 |");
  expect(text).toContain("| Speed: of tokens | 5 (with 8 at once) | 7 (with 8 at once) |");
  expect(text).toContain("## Node, gpt2\n\n### Speed\n");
  expect(text).toContain("No check of exactness came to its end.");
  expect(text).not.toContain("Not measured");
});

it("says first what is wrong, and what was not measured", () => {
  const home = { ...HOME, missing: ["gpt2: Kernels: cut after 9 s."], toCome: ["gpt2: Decode", "gpt2: Sampling"] };
  const groups = [groupOf("gpt2", [section("5", "WRONG")])];
  const text = gpuReportMarkdown({
    ...REPORT,
    missing: ["node: it did not start."],
    homes: [{ ...home, home: "chromium", groups }],
  });
  expect(text).toContain("**WRONG ANSWERS**: Chromium, gpt2: Speed.");
  expect(text).toContain(
    "- node: it did not start.\n- Chromium, gpt2: Kernels: cut after 9 s.\n- Chromium, not reached: gpt2: Decode; gpt2: Sampling.\n",
  );
});
