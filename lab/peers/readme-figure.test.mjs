import { readFileSync } from "node:fs";

import { expect, it } from "vitest";

import { withMeasured } from "../report/measured-part.ts";
import { README_BEGIN, readmeFigure, SVG_PATH } from "./readme-figure.ts";
import { renderRuns } from "./report.ts";

const { runs } = JSON.parse(readFileSync("docs/benchmarks/peers.json", "utf8"));

const load = (/** @type {number} */ sequences, /** @type {number} */ tokensPerSecond, way = "at once") => ({
  way,
  sequences,
  timing: { tokensPerSecond },
  runs: [{}],
});
const runOn = (/** @type {string} */ adapter, /** @type {string} */ how, /** @type {number} */ rate) => ({
  ...runs[0],
  model: { name: "small", numParameters: 14e6 },
  adapter,
  engines: [
    { name: "Chorus", how: "CPU, portable arithmetic, 1 thread", loads: [load(1, 1), load(4, 1)] },
    { name: "Chorus", how, loads: [load(1, rate), load(4, 3 * rate), load(4, 2, "one after the other")] },
    { name: "wllama", how, loads: [] },
  ],
});

it("README has the figure that the report gives: npm run bench -- readme", () => {
  const { markdown, svg } = readmeFigure(runs, "small");
  const readme = readFileSync("README.md", "utf8");
  expect(withMeasured(readme, markdown, README_BEGIN)).toBe(readme);
  expect(readFileSync(SVG_PATH, "utf8")).toBe(svg);
});

it("the report is what its figures give: npm run bench -- readme", () => {
  const report = readFileSync("docs/benchmarks/peers.md", "utf8");
  expect(withMeasured(report, renderRuns(runs))).toBe(report);
});

it("a document without the two comments is refused, and is not written over", () => {
  expect(() => withMeasured("<!-- end -->", "figures")).toThrow(
    "The document lacks <!-- measured --> or <!-- end -->.",
  );
});

it("takes the last run on the CPU, and one on a GPU before it, but none that is emulated", () => {
  const onCpu = [
    runOn("the CPU", "CPU, default settings, 1 thread", 10),
    runOn("the CPU", "CPU, default settings, 1 thread", 20),
  ];
  const emulated = runOn("llvmpipe", "WebGPU, default settings", 30);
  const rates = (/** @type {readonly any[]} */ of) => readmeFigure(of, "small").markdown.match(/Alone.*/)?.[0];
  expect(rates([...onCpu, emulated])).toBe("Alone: Chorus 20. With 4 at once: Chorus 60.");
  expect(rates([...onCpu, runOn("A GPU", "WebGPU, default settings", 50)])).toMatch(/Chorus 50.*Chorus 150/);
  expect(() => readmeFigure([emulated], "small")).toThrow("no run of small");
});

it("is readable where the reader's colours are dark", () => {
  expect(readmeFigure(runs, "small").svg).toMatch(/^<svg [^>]*><style>[^<]*@media \(prefers-color-scheme: dark\)/);
});
