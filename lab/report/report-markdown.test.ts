import { expect, it } from "vitest";

import { readBenchOptions } from "../page/bench-options.ts";
import type { LoadCell } from "../load/load-cell.ts";
import type { BenchResult } from "./bench-result.ts";
import { formatFigure } from "./format-figure.ts";
import { reportFiles, reportMarkdown } from "./report-markdown.ts";

const RESULT: BenchResult = {
  environment: {
    version: "1.2.3",
    browser: "Chrome 142 on Linux",
    adapter: "An adapter",
    model: "tiny",
    parameters: 4_340_000,
    contextLength: 512,
    dtype: "f16",
    kvCacheDtype: "f16",
    cacheBlocks: 240,
  },
  options: readBenchOptions(new URLSearchParams()),
  startedAt: "2026-01-02T03:04:05.000Z",
  seconds: 61.4,
  warnings: ["It was hidden."],
  sections: [
    {
      id: "decode",
      title: "Decode",
      about: "What it is.",
      seconds: 12,
      headlines: [["7.5 times", "one"]],
      charts: [
        {
          title: 'Rate & "more"',
          xName: "n",
          yName: "tokens/s",
          xScale: "log",
          series: [
            {
              name: "a<b",
              points: [
                [1, 10],
                [8, 70],
                [16, NaN],
              ],
            },
            {
              name: "c",
              points: [
                [1, 10],
                [8, 69],
              ],
            },
          ],
        },
      ],
      tables: [
        {
          title: "Rates",
          columns: ["n", "tokens/s"],
          rows: [
            [1, 10.04],
            [8, null],
          ],
        },
      ],
      notes: ["Mind this."],
    },
  ],
};

it("says what ran where, with headlines, tables, notes and warnings", () => {
  const text = reportMarkdown(RESULT);
  expect(text).toContain("# Chorus 1.2.3: benchmark\n");
  expect(text).toContain("| Adapter | An adapter |\n| Browser | Chrome 142 on Linux |\n");
  expect(text).toContain("4.34 million parameters, context 512");
  expect(text).toContain("> It was hidden.\n");
  expect(text).toContain("**7.5 times** one\n");
  expect(text).toContain("Rates:\n\n| n | tokens/s |\n| --- | ---: |\n| 1 | 10.0 |\n| 8 | – |\n");
  expect(text).toContain("Mind this.\n");
  expect(text).not.toContain("](");
});

it("writes the page, the data as it was, and a file for each chart", () => {
  const files = new Map(reportFiles(RESULT, "here").map(({ name, text }) => [name, text]));
  expect([...files.keys()]).toEqual(["here.md", "here.json", "here-decode.svg"]);
  expect(files.get("here.md")).toContain('![Rate & "more"](here-decode.svg)');
  expect(JSON.parse(files.get("here.json") ?? "")).toMatchObject({
    sections: [
      {
        tables: [
          {
            rows: [
              [1, 10.04],
              [8, null],
            ],
          },
        ],
      },
    ],
  });
});

it("writes the cells of sections that have them as CSV, too", () => {
  const [decode] = RESULT.sections;
  if (!decode) throw new Error("there is a section");
  const cells = [{ batch_size: 4, wall_ms: 12.5 } as LoadCell];
  const files = reportFiles({ ...RESULT, sections: [{ ...decode, cells }] }, "here");
  expect(files.map(({ name }) => name)).toEqual(["here.md", "here.json", "here.csv", "here-decode.svg"]);
  expect(files[2]?.text).toBe("section,batch_size,wall_ms\r\ndecode,4,12.5\r\n");
});

it("a chart is sound SVG: words are escaped, and what was not measured is left out", () => {
  const svg = reportFiles(RESULT, "here").find(({ name }) => name.endsWith(".svg"))?.text ?? "";
  expect(svg).toContain('aria-label="Rate &#38; &#34;more&#34;"');
  expect(svg).toContain(">a&#60;b</text>");
  expect(svg).not.toContain("NaN");
  expect(svg.match(/<circle/g)).toHaveLength(2);
  // Labels of lines that end close together stand below each other.
  const labels = [...svg.matchAll(/y="([\d.]+)" fill="[^"]*" font-weight="600"/g)].map(([, y]) => Number(y));
  expect(labels).toHaveLength(2);
  expect((labels[1] ?? 0) - (labels[0] ?? 0)).toBeGreaterThanOrEqual(15);
});

it.each([
  [0, "0"],
  [4, "4"],
  [1729, "1,729"],
  [1729.4, "1,729"],
  [25.06, "25.1"],
  [2.5049, "2.50"],
  [0.0421, "0.042"],
  [null, "–"],
  [NaN, "–"],
  ["∞", "∞"],
])("%j is written %j", (figure, text) => {
  expect(formatFigure(figure)).toBe(text);
});
