// Writes a result as Markdown, with its charts as SVG files beside it.

import type { BenchResult, NamedSectionResult, ResultTable } from "./bench-result.ts";
import { chartSvg, hasLine } from "./chart-svg.ts";
import { formatFigure } from "./format-figure.ts";
import { reportCsv } from "./report-csv.ts";
import { markdownTable } from "./table.ts";

interface ReportFile {
  readonly name: string;
  readonly text: string;
}

const CHART_SIZE = { width: 720, height: 300 };

/** Returns `name.md`, `name.json`, `name.csv` if a section has cells, and the charts. */
export function reportFiles(result: BenchResult, name: string): ReportFile[] {
  const charts = result.sections.flatMap(({ id, charts: ofSection }) =>
    ofSection
      .filter(hasLine)
      .map((chart, i) => ({ name: chartName(name, id, i), text: `${chartSvg(chart, CHART_SIZE)}\n` })),
  );
  const csv = reportCsv(result);
  return [
    { name: `${name}.md`, text: reportMarkdown(result, (id, i) => chartName(name, id, i)) },
    { name: `${name}.json`, text: `${JSON.stringify(result, null, 1)}\n` },
    ...(csv === null ? [] : [{ name: `${name}.csv`, text: csv }]),
    ...charts,
  ];
}

/** @param chartPath returns the path of a section's chart; without it the charts are left out */
export function reportMarkdown(result: BenchResult, chartPath?: (section: string, index: number) => string): string {
  const { environment: e, options, warnings } = result;
  const lines = [
    `# Chorus ${e.version}: benchmark`,
    "",
    ...markdownTable(
      ["", ""],
      [
        ["Adapter", e.adapter],
        ["Browser", e.browser],
        ["Model", `${e.model}, ${formatFigure(e.parameters / 1e6)} million parameters, context ${e.contextLength}`],
        ["Weights, cache", `${e.dtype}, ${e.kvCacheDtype} (${e.cacheBlocks} blocks)`],
        ["Prompts, answers", `${options.promptTokens} and ${options.outputTokens} tokens where nothing else is said`],
        ["Repeats", `${options.repeats}, interleaved, after a warm-up; medians`],
        ["Began, took", `${result.startedAt}, ${formatFigure(Math.round(result.seconds))} s`],
      ],
    ),
    ...warnings.flatMap((warning) => ["", `> ${warning}`]),
    ...result.sections.flatMap((section) => ["", ...sectionLines(section, { chartPath })]),
  ];
  return `${lines.join("\n")}\n`;
}

interface SectionStyle {
  /** [##] */
  readonly heading?: string;
  /** Returns the path of a section's chart. [charts are left out] */
  readonly chartPath?: ((section: string, index: number) => string) | undefined;
}

export function sectionLines(section: NamedSectionResult, { heading = "##", chartPath }: SectionStyle = {}): string[] {
  return [
    `${heading} ${section.title}`,
    "",
    section.about,
    ...section.headlines.flatMap(([value, label]) => ["", `**${value}** ${label}`]),
    ...(chartPath
      ? section.charts.filter(hasLine).flatMap(({ title }, i) => ["", `![${title}](${chartPath(section.id, i)})`])
      : []),
    ...section.tables.flatMap((table) => ["", ...tableLines(table)]),
    ...section.notes.flatMap((note) => ["", note]),
  ];
}

function tableLines({ title, columns, rows }: ResultTable): string[] {
  return [
    `${title}:`,
    "",
    ...markdownTable(
      columns,
      rows.map((row) => row.map(formatFigure)),
    ),
  ];
}

function chartName(name: string, section: string, index: number): string {
  return `${name}-${section}${index > 0 ? `-${index + 1}` : ""}.svg`;
}
