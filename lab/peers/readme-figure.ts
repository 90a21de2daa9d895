// npm run bench -- readme: README's figure, how the tokens per second of each engine grow with the requests at once, out of peers.json.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { root, run as runCommand } from "../../tools/run-command.mjs";
import { writeMeasured } from "../report/measured-part.ts";
import { chartSvg } from "../report/chart-svg.ts";
import { formatFigure } from "../report/format-figure.ts";
import type { OptionsOf } from "../runs/bench-parts.ts";
import type { EngineResult } from "./compare.ts";
import { readRuns, roundsOf, writeRuns, type PeerRun } from "./report.ts";

interface ReadmeFigure {
  /** Between README's comments. */
  readonly markdown: string;
  readonly svg: string;
}

export const README_BEGIN = "<!-- npm run bench -- readme -->";
export const SVG_PATH = "docs/benchmarks/peers.svg";

/** The CPU's name in peers.json. Adapters that emulate a GPU say nothing about speed. */
const CPU = "the CPU";
const EMULATED = /swiftshader|llvmpipe|lavapipe/i;
/** The way to show if an engine ran in several: the default settings, on one thread. */
const WAY = /^(?!.*(f32 weights|portable)).*(1 thread|WebGPU)/;
/** Two of this width stand side by side in a README on GitHub. */
const SIZE = { width: 400, height: 230 };
/**
 * An image has no page around it that sets the chart's colours: these are the dark theme's (src/app/ui/tokens.css). The background
 * is its own, too: a page's theme need not be the system's.
 */
const DARK =
  "--color-ink:#ece7dc;--color-ink-2:#bdb6a7;--color-ink-3:#9c9485;--color-line:#2e2b26;--color-surface:#1c1b18;--color-control:#7f7869";
const COLOURS = `svg{background:var(--color-surface,#fdfcf9)}@media (prefers-color-scheme: dark){svg{${DARK}}}`;

/** Rewrites README's figure and peers.md from the runs that peers.json has. */
export function run({ size = "small" }: OptionsOf<"readme">): Promise<boolean> {
  const runs = readRuns();
  const { markdown, svg } = readmeFigure(runs, size);
  writeRuns(runs);
  writeMeasured("README.md", markdown, README_BEGIN);
  writeFileSync(join(root, SVG_PATH), svg);
  // Tables are padded there.
  return runCommand("oxfmt README.md", { output: "if-failed" });
}

/**
 * Chooses a run: on a real GPU if there is one, else on the CPU; of several the last one of the size that is asked for.
 *
 * @throws Error if no run has requests alone and together
 */
export function readmeFigure(runs: readonly PeerRun[], size: string): ReadmeFigure {
  const ofSize = runs.filter(({ model }) => model.name === size);
  const chosen =
    ofSize.findLast(({ adapter }) => adapter !== CPU && !EMULATED.test(adapter)) ??
    ofSize.findLast(({ adapter }) => adapter === CPU);
  if (!chosen) throw new Error(`peers.json has no run of ${size} on a GPU or on the CPU.`);
  const names = [...new Set(chosen.engines.map(({ name }) => name))];
  const lines = names.flatMap((name) => {
    const engine = chosen.engines.find((one) => one.name === name && WAY.test(one.how) && one.loads.length > 0);
    return engine ? [{ name, rates: ratesOf(engine) }] : [];
  });
  const counts = [...new Set(lines.flatMap(({ rates }) => [...rates.keys()]))].toSorted((a, b) => a - b);
  if (counts.length < 2) throw new Error(`The run of ${size} has no requests together.`);
  const title = "Tokens per second by requests at once";
  const chart = {
    title,
    xName: "requests at once",
    yName: "tokens/s",
    xScale: "log",
    series: lines.map(({ name, rates }) => ({ name, points: [...rates] })),
  } as const;
  const isOnCpu = chosen.adapter === CPU;
  const where = isOnCpu ? "one thread of a processor" : chosen.adapter;
  const millions = Math.round(chosen.model.numParameters / 1e6);
  const ratesAt = (count = 0) =>
    lines.map(({ name, rates }) => `${name} ${formatFigure(rates.get(count) ?? null)}`).join(", ");
  const markdown = [
    `The chart: tokens per second of a model of ${millions} million parameters on ${where}, prompts included`,
    `(${roundsOf(chosen)} on ${chosen.cpu}, ${chosen.date}; [more](docs/benchmarks/peers.md)).`,
    `Alone: ${ratesAt(counts[0])}. With ${counts.at(-1)} at once: ${ratesAt(counts.at(-1))}.`,
  ].join("\n");
  return { markdown, svg: `${withColours(chartSvg(chart, SIZE))}\n` };
}

function ratesOf({ loads }: EngineResult): Map<number, number> {
  // Older results have a way that is no longer measured.
  const isOld = (way: string) => way === "one after the other";
  const defaultText = loads.filter(({ way, promptTokens }) => !promptTokens && !isOld(way));
  const rates = new Map<number, number>();
  // The first way is the engine's own for many requests: a padded batch if it has one.
  for (const { sequences, timing } of defaultText) {
    if (!rates.has(sequences)) rates.set(sequences, timing.tokensPerSecond);
  }
  return rates;
}

function withColours(svg: string): string {
  return svg.replace(">", `><style>${COLOURS}</style>`);
}
