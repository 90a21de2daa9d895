// Renders the runs in docs/benchmarks/peers.json for peers.md.

import { readFileSync } from "node:fs";
import { join } from "node:path";

import { root } from "../../tools/run-command.mjs";
import type { NamedSectionResult, ResultTable } from "../report/bench-result.ts";
import { formatFigure } from "../report/format-figure.ts";
import { writeMeasured } from "../report/measured-part.ts";
import { sectionLines } from "../report/report-markdown.ts";
import { tableOf, type Columns } from "../report/tables-and-charts.ts";
import { tokensLine, type Comparison, type EngineResult, type LoadResult } from "./compare.ts";

export interface PeerRun extends Comparison {
  readonly date: string;
  readonly commit: string;
  readonly cpu: string;
  /** Load average of the machine, before and at the end of the run. */
  readonly loadBefore: number;
  readonly loadAfter: number;
  readonly versions: Readonly<Record<string, string>>;
  readonly model: { readonly name: string; readonly numParameters: number };
  readonly isQuick: boolean;
}

export const REPORT = "docs/benchmarks/peers";

export function readRuns(): readonly PeerRun[] {
  return (JSON.parse(readFileSync(join(root, `${REPORT}.json`), "utf8")) as { runs: PeerRun[] }).runs;
}

export function renderRuns(runs: readonly PeerRun[]): string {
  return runs.flatMap((run) => [...sectionLines(sectionOf(run)), ""]).join("\n");
}

export function writeRuns(runs: readonly PeerRun[]): void {
  writeMeasured(`${REPORT}.md`, renderRuns(runs));
}

/** "one round", "medians of 3 rounds" */
export function roundsOf({ engines }: PeerRun): string {
  const rounds = Math.max(...engines.flatMap(({ loads }) => loads.map(({ runs }) => runs.length)));
  return rounds === 1 ? "one round" : `medians of ${rounds} rounds`;
}

function sectionOf(run: PeerRun): NamedSectionResult {
  const versions = Object.entries(run.versions).map(([name, version]) => `${name} ${version}`);
  const millions = (run.model.numParameters / 1e6).toFixed(1);
  return {
    id: run.model.name,
    title: `${run.model.name} on ${run.adapter}`,
    about: `${millions} million parameters, prompts of ${run.promptTokens} tokens, ${roundsOf(run)}. ${run.date}, Chorus at
${run.commit}, ${versions.join(", ")}, Chromium ${run.browser}, ${run.cpu}.
The machine's load average was ${run.loadBefore} before and ${run.loadAfter} at the end.`,
    seconds: NaN,
    headlines: [],
    charts: [],
    tables: [...speedTables(run), enginesTable(run)],
    notes: [],
  };
}

interface Measure {
  readonly title: string;
  readonly figureOf: (load: LoadResult) => number;
  readonly format: (figure: number) => string;
  /** Whether less is better. */
  readonly isTime?: boolean;
}

const MEASURES: readonly Measure[] = [
  {
    title: "Tokens per second over whole requests, prompts included",
    figureOf: ({ timing }) => timing.tokensPerSecond,
    format: formatFigure,
  },
  {
    title: "Tokens per second from the first token on",
    figureOf: ({ timing }) => timing.decodeTokensPerSecond,
    format: formatFigure,
  },
  {
    title: "Time to the first token, the mean of a load's sequences",
    figureOf: ({ timing }) => timing.meanTtftMs,
    format: (ms) => (ms >= 10_000 ? `${(ms / 1000).toFixed(1)} s` : `${ms.toFixed(0)} ms`),
    isTime: true,
  },
];

/** Returns a table for each measure: a row for each engine, a column for each load; in brackets how many times as fast Chorus is. */
function speedTables({ engines }: Comparison): ResultTable[] {
  const measured = engines.filter(({ loads }) => loads.length > 0);
  const columns = [...new Set(measured.flatMap((engine) => [...loadsByName(engine).keys()]))];
  return MEASURES.map(({ title, figureOf, format, isTime }) => ({
    title,
    columns: ["engine", "computes on, in", ...columns],
    rows: measured.map((engine) => {
      const { name, how, against } = engine;
      const chorus = engines.find((one) => one.name === "Chorus" && one.how === against);
      const cells = columns.map((column) => {
        const [own, base] = [engine, chorus].map((one) => one && loadsByName(one).get(column));
        if (!own) return "";
        const ratio = base ? (figureOf(base) / figureOf(own)) ** (isTime ? -1 : 1) : NaN;
        return `${format(figureOf(own))}${engine === chorus || Number.isNaN(ratio) ? "" : ` (${formatFigure(ratio)}×)`}`;
      });
      return [name, how, ...cells];
    }),
  }));
}

/** Returns an engine's loads by their columns. Those without a way in their name are sent in the engine's own. */
function loadsByName({ loads }: EngineResult): ReadonlyMap<string, LoadResult> {
  const nameOf = ({ way, sequences, promptTokens }: LoadResult) => {
    if (promptTokens) return `after ${promptTokens} tokens`;
    return sequences === 1 ? "1" : `${sequences}${way === loads[0]?.way ? "" : ` ${way}`}`;
  };
  return new Map(loads.map((load) => [nameOf(load), load]));
}

function enginesTable({ engines }: Comparison): ResultTable {
  const seconds = (ms: number | null) => (ms === null ? null : `${(ms / 1000).toFixed(1)} s`);
  const megabytes = (bytes: number | null) => bytes && bytes / 1e6;
  const columns: Columns<EngineResult> = {
    engine: ({ name }) => name,
    "computes on, in": ({ how }) => how,
    threads: ({ threads }) => threads,
    // Older runs have no bytes.
    ...(engines.some(({ downloadBytes }) => downloadBytes) && {
      "download, MB": ({ downloadBytes }) => megabytes(downloadBytes),
      "memory, MB": ({ memoryBytes }) => megabytes(memoryBytes),
    }),
    load: ({ loadMs }) => seconds(loadMs),
    "tokens each": ({ loads }) =>
      [...new Set(loads.map(({ newTokens }) => newTokens))].toSorted((a, b) => a - b).join(", "),
    "tokens against Chorus in f32": ({ tokens, failure }) =>
      failure === null ? (tokens ? tokensLine(tokens) : "they are the reference") : `left out: ${failure}`,
  };
  return tableOf("Engines", engines, columns);
}
