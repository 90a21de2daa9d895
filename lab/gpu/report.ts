import { sectionLines } from "../report/report-markdown.ts";
import { markdownTable } from "../report/table.ts";
import { formatFigure } from "../report/format-figure.ts";
import { WRONG, type Group, type HomeReport } from "./home.ts";

export interface GpuReport {
  readonly version: string;
  readonly command: string;
  /** ISO 8601 */
  readonly startedAt: string;
  readonly machine: string;
  readonly minutes: number;
  readonly homes: readonly HomeReport[];
  /** Sentences about homes that could not be measured, or not completely. */
  readonly missing: readonly string[];
}

const CHECKING_PARTS = ["known-answers", "products", "exactness"];
const HOME_TITLES = { chromium: "Chromium", node: "Node" } as const;

/** One group of figures with its title: "Chromium, gpt2". */
interface TitledGroup extends Group {
  readonly title: string;
}

export function gpuReportMarkdown(report: GpuReport): string {
  const { homes } = report;
  const groups = titledGroups(report);
  const missing = [
    ...report.missing,
    ...homes.flatMap(({ home, missing: ofHome, toCome }) => [
      ...ofHome.map((line) => `${HOME_TITLES[home]}, ${line}`),
      ...(toCome.length > 0 ? [`${HOME_TITLES[home]}, not reached: ${toCome.join("; ")}.`] : []),
    ]),
  ];
  const wrong = wrongSections(report);
  const lines = [
    `# Chorus ${report.version} on a GPU`,
    "",
    `Written by \`${report.command}\`.`,
    "",
    ...markdownTable(
      ["", ""],
      [
        ...homes.flatMap(({ home, adapter, runtime, seconds }) => [
          [HOME_TITLES[home], `${runtime}: ${adapter}, ${formatFigure(Math.round(seconds))} s`],
        ]),
        ["Machine", report.machine],
        ["Began", report.startedAt],
        ["Time", `at most ${formatFigure(report.minutes)} minutes`],
      ],
    ),
    "",
    wrong.length > 0 ? `**WRONG ANSWERS**: ${wrong.join("; ")}.` : rightness(groups),
    "",
    ...(missing.length > 0 ? ["Not measured:", "", ...missing.map((line) => `- ${line}`), ""] : []),
    "## In short",
    "",
    ...inShort(groups),
    ...groups.flatMap((group) => ["", ...groupLines(group)]),
  ];
  return `${lines.join("\n")}\n`;
}

function rightness(groups: readonly Group[]): string {
  const checks = groups.flatMap(({ sections }) => sections).filter(({ id }) => CHECKING_PARTS.includes(id));
  return checks.length > 0
    ? "Every check of exactness that came to its end is right."
    : "No check of exactness came to its end.";
}

function titledGroups({ homes }: GpuReport): TitledGroup[] {
  return homes.flatMap(({ home, groups }) =>
    groups.map((group) => {
      const title = [HOME_TITLES[home], ...(group.model === null ? [] : [group.model])].join(", ");
      return { ...group, title };
    }),
  );
}

export function wrongSections(report: GpuReport): string[] {
  return titledGroups(report).flatMap(({ title, sections }) =>
    sections
      .filter(({ tables }) => tables.some(({ rows }) => rows.flat().includes(WRONG)))
      .map((section) => `${title}: ${section.title}`),
  );
}

/** Returns a row for each headline, a column for each group with models; others are in the first column of their home. */
function inShort(groups: readonly TitledGroup[]): string[] {
  const withFigures = groups.filter(({ sections }) => sections.some(({ headlines }) => headlines.length > 0));
  const rows = new Map<string, Map<TitledGroup, string>>();
  for (const group of withFigures) {
    for (const { title, headlines } of group.sections) {
      for (const [value, label] of headlines) {
        // "all together, with 64 at once": what follows the comma belongs to the figure.
        const [what = "", ...detail] = label.split(/, (?=with |\d)/);
        const row = `${title}: ${what}`;
        const cell = [value, ...detail.map((part) => `(${part})`)].join(" ");
        rows.set(row, (rows.get(row) ?? new Map<TitledGroup, string>()).set(group, cell));
      }
    }
  }
  return markdownTable(
    ["", ...withFigures.map(({ title }) => title)],
    [...rows].map(([row, cells]) => [row, ...withFigures.map((group) => cells.get(group) ?? "")]),
  );
}

function groupLines({ title, environment: e, sections }: TitledGroup): string[] {
  const about = e
    ? [
        "",
        `${formatFigure(e.parameters / 1e6)} million parameters, random weights in ${e.dtype}, cache in ${e.kvCacheDtype} ` +
          `(${formatFigure(e.cacheBlocks)} blocks), context ${formatFigure(e.contextLength)}.`,
      ]
    : [];
  return [
    `## ${title}`,
    ...about,
    ...sections.flatMap((section) => ["", ...sectionLines(section, { heading: "###" })]),
  ];
}
