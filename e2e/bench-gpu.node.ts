// npm run bench -- gpu in its smallest form: one home, on a software adapter.

import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";

import type { GpuReport } from "../lab/gpu/report.ts";

const { CHORUS_DAWN: dawn = "", CHORUS_VULKAN: driver = "" } = process.env;

it.skipIf(!dawn)("npm run bench -- gpu measures in Node, and writes what it has measured", async () => {
  const out = mkdtempSync(join(tmpdir(), "chorus-gpu-bench-"));
  try {
    const words = ["--homes", "node", "--models", "tiny", "--sequences", "1"];
    const bounds = ["--parts", "decode,startup", "--out", out, "--name", "smallest"];
    await promisify(execFile)(process.execPath, ["lab/runs/bench.mjs", "gpu", ...words, ...bounds], {
      env: { ...process.env, ...(driver && { VK_DRIVER_FILES: driver }) },
      timeout: 280_000,
    });
    const report = JSON.parse(readFileSync(join(out, "smallest.json"), "utf8")) as GpuReport;
    expect(report.missing).toEqual([]);
    expect(report.homes.map(({ home }) => home)).toEqual(["node"]);
    for (const { missing, toCome, groups } of report.homes) {
      expect([...missing, ...toCome]).toEqual([]);
      expect(groups.map(({ model, sections }) => [model, ...sections.map(({ id }) => id)])).toEqual([
        ["tiny", "decode", "startup"],
      ]);
      const [alone] = groups[0]?.sections[0]?.tables[0]?.rows ?? [];
      expect(Number(alone?.[1])).toBeGreaterThan(0);
    }
    expect(readFileSync(join(out, "smallest.md"), "utf8")).toContain("## Node, tiny");
  } finally {
    rmSync(out, { recursive: true, force: true });
  }
});
