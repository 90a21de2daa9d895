// A chart as SVG text: the page shows it, docs/benchmarks/ keeps it. Series differ by ink, dash and marker, never by
// hue.

import type { ChartSeries, ResultChart } from "./bench-result.ts";
import { formatFigure } from "./format-figure.ts";

interface ChartSize {
  readonly width: number;
  readonly height: number;
}

const MARGIN = { left: 52, right: 20, top: 24, bottom: 42 };
/** Rough width of a character: without a page, text can't be measured. */
const CHARACTER_WIDTH = 7.5;
const LABEL_HEIGHT = 15;
const FONT = "system-ui, sans-serif";

/** The page's colours if it sets them, else those of the light theme. */
const COLOUR = {
  ink: "var(--color-ink, #1e1c18)",
  faint: "var(--color-ink-3, #6a6457)",
  line: "var(--color-line, #e3ded2)",
  surface: "var(--color-surface, #fdfcf9)",
};

const SECOND = "var(--color-ink-2, #524d43)";
const FOURTH = "var(--color-control, #8c8475)";
const hollow = (stroke: string) => `stroke="${stroke}" fill="${COLOUR.surface}" stroke-width="1.5"/>`;

type Look = readonly [stroke: string, width: number, dash: string, marker: (x: number, y: number) => string];
const LOOKS: readonly Look[] = [
  [COLOUR.ink, 2.5, "", (x, y) => `<circle cx="${x}" cy="${y}" r="4" fill="${COLOUR.ink}"/>`],
  [SECOND, 1.5, "6 4", (x, y) => `<rect x="${x - 3.5}" y="${y - 3.5}" width="7" height="7" ${hollow(SECOND)}`],
  [COLOUR.faint, 1.5, "2 3", (x, y) => `<path d="M${x} ${y - 4.5}l4 7h-8z" ${hollow(COLOUR.faint)}`],
  [FOURTH, 1.5, "8 3 2 3", (x, y) => `<path d="M${x} ${y - 5}l5 5l-5 5l-5 -5z" ${hollow(FOURTH)}`],
];

/** Returns whether there is a line to draw: for one point the table suffices. */
export function hasLine({ series }: ResultChart): boolean {
  return new Set(series.flatMap(({ points }) => points).map(([x]) => x)).size > 1;
}

export function chartSvg(chart: ResultChart, { width, height }: ChartSize): string {
  const series = chart.series.map((one) => ({ ...one, points: one.points.filter(([, y]) => Number.isFinite(y)) }));
  const all = series.flatMap(({ points }) => points);
  const xs = [...new Set(all.map(([x]) => x))].sort((a, b) => a - b);
  const [first = 0, last = 1] = [xs[0], xs.at(-1)];
  const yTicks = ticksUpTo(Math.max(0, ...all.map(([, y]) => y)));
  const top = yTicks.at(-1) ?? 1;

  const right = MARGIN.right + CHARACTER_WIDTH * Math.max(...series.map(({ name }) => name.length));
  const plotWidth = width - MARGIN.left - right;
  const along = chart.xScale === "log" ? Math.log2 : (x: number) => x;
  const xOf = (x: number) =>
    round(MARGIN.left + (last > first ? ((along(x) - along(first)) / (along(last) - along(first))) * plotWidth : 0));
  const yOf = (y: number) => round(height - MARGIN.bottom - (y / top) * (height - MARGIN.top - MARGIN.bottom));

  const parts = [
    text(0, 12, "start", chart.yName),
    ...yTicks.flatMap((tick) => [
      `<path d="M${MARGIN.left} ${yOf(tick)}H${width - right}" stroke="${COLOUR.line}"/>`,
      text(MARGIN.left - 8, yOf(tick) + 4, "end", formatFigure(tick)),
    ]),
    ...xTicks(xs, xOf).map((x) => text(xOf(x), height - MARGIN.bottom + 18, "middle", formatFigure(x))),
    text(MARGIN.left + plotWidth / 2, height - 6, "middle", chart.xName),
    ...series.map((one, i) => drawSeries(one, lookOf(i), xOf, yOf)).reverse(),
    ...drawLabels(series, yOf, width - right + 12),
  ];
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" ` +
    `role="img" aria-label="${escape(chart.title)}" font-family="${FONT}" font-size="12">${parts.join("")}</svg>`
  );
}

function lookOf(index: number): Look {
  const look = LOOKS[index % LOOKS.length];
  if (!look) throw new Error("there are looks");
  return look;
}

function drawSeries(
  { points }: ChartSeries,
  [stroke, width, dash, marker]: Look,
  xOf: (x: number) => number,
  yOf: (y: number) => number,
): string {
  const path = points.map(([x, y]) => `${xOf(x)} ${yOf(y)}`).join("L");
  return (
    `<path d="M${path}" fill="none" stroke="${stroke}" stroke-width="${width}" stroke-dasharray="${dash}"/>` +
    points.map(([x, y]) => marker(xOf(x), yOf(y))).join("")
  );
}

/** Draws names at the right end of each line, apart from each other even if the lines end close together. */
function drawLabels(series: readonly ChartSeries[], yOf: (y: number) => number, x: number): string[] {
  const labels = series
    .map(({ name, points }) => ({ name, y: yOf(points.at(-1)?.[1] ?? 0) + 4 }))
    .filter(({ name }) => name !== "")
    .sort((a, b) => a.y - b.y);
  let lowest = -Infinity;
  return labels.map(({ name, y }) => {
    lowest = Math.max(y, lowest + LABEL_HEIGHT);
    return `<text x="${x}" y="${round(lowest)}" fill="${COLOUR.ink}" font-weight="600">${escape(name)}</text>`;
  });
}

function xTicks(xs: readonly number[], xOf: (x: number) => number): number[] {
  const ticks: number[] = [];
  for (const x of xs.toReversed()) {
    const nearest = ticks.at(-1);
    if (nearest === undefined || xOf(nearest) - xOf(x) >= 36) ticks.push(x);
  }
  return ticks.reverse();
}

/** Returns ticks from 0 in three to six even steps of 1, 2 or 5 times a power of ten, the last at or above `most`. */
export function ticksUpTo(most: number): number[] {
  if (!(most > 0)) return [0, 1];
  const power = 10 ** Math.floor(Math.log10(most / 3));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => most / size <= 5) ?? 10 * power;
  const count = Math.ceil(most / step - 1e-9);
  return Array.from({ length: count + 1 }, (_, i) => Number((i * step).toPrecision(12)));
}

function text(x: number, y: number, anchor: string, content: string): string {
  return `<text x="${round(x)}" y="${round(y)}" text-anchor="${anchor}" fill="${COLOUR.faint}">${escape(content)}</text>`;
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

function escape(content: string): string {
  return content.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
