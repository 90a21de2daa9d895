import { formatCount } from "../format.ts";
import { isOutlined } from "../pane-color.ts";
import type { ChartData, ChartSpec } from "./charts.ts";
import type { Surface } from "./use-canvas.ts";

interface ChartDrawing {
  readonly chart: ChartSpec;
  readonly data: Pick<ChartData, "samples" | "newest">;
  /** Places along the time axis; the newest value is at the right edge. */
  readonly places: number;
  /** The value with the cursor, counted from the newest. */
  readonly ago: number | null;
}

const AXIS_PX = 34;
const TOP_PX = 5;
const BOTTOM_PX = 5;

const ROUND = [1, 1.2, 1.6, 2, 2.4, 3, 4, 5, 6, 8, 10];

/** Returns the next round number whose half is round as well. */
export function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(value, 1e-3)));
  const step = ROUND.find((factor) => factor * power >= value * 0.999) ?? 10;
  return step * power;
}

/** Returns the width of a chart without its axis. */
export function plotWidthOf(width: number): number {
  return width - AXIS_PX;
}

export function drawChart(
  { g, width, height, colors }: Surface,
  { chart: { below, least, read, dotted }, data: { samples, newest }, places, ago }: ChartDrawing,
) {
  const plotWidth = plotWidthOf(width);
  const plotHeight = height - TOP_PX - BOTTOM_PX;
  const values = samples.map(read);
  const others = dotted ? samples.map(dotted.read) : [];
  const max = roundUp(Math.max(least(newest), ...[...values, ...others].map((value) => value ?? 0)));
  const x = (index: number) => plotWidth * (1 - (samples.length - 1 - index) / (places - 1));
  const y = (value: number | null | undefined) => TOP_PX + plotHeight * (1 - (value ?? 0) / max);
  /** Traces a line; a single value is a dot. */
  const trace = (along: readonly (number | null)[], from = 0, to = along.length - 1) => {
    g.beginPath();
    for (let i = from; i <= to; i++) g.lineTo(x(i), y(along[i]));
    if (from === to) g.lineTo(x(from) + 1, y(along[from]));
  };
  const fillDownTo = (floor: readonly number[], color: string, from = 0, to = samples.length - 1) => {
    for (let i = to; i >= from; i--) g.lineTo(x(i), y(floor[i]));
    g.fillStyle = color;
    g.fill();
  };

  g.font = `400 11px ${colors.sans}`;
  for (const share of [0, 0.5, 1]) {
    g.fillStyle = colors.line;
    g.fillRect(0, Math.round(y(share * max)), plotWidth, 1);
    g.fillStyle = colors.ink3;
    g.fillText(axisLabel(share * max), plotWidth + 4, y(share * max) + 4);
  }
  let floor: number[] = [];
  const panes = below === "streams" ? samples.flatMap(({ byPane }) => Object.keys(byPane).map(Number)) : [];
  for (const pane of [...new Set(panes)].toSorted((a, b) => a - b)) {
    const sums = samples.map(({ byPane }, i) => (byPane[pane] ?? 0) + (floor[i] ?? 0));
    trace(sums);
    // Panes 9 to 16 are open: pale, to distinguish them from panes 1 to 8 of a similar hue.
    g.globalAlpha = isOutlined(pane) ? 0.5 : 1;
    fillDownTo(floor, colors.panes[pane] ?? colors.ink2);
    g.globalAlpha = 1;
    floor = sums;
  }
  if (below === "tint") {
    for (const [from, to] of runsOf(values)) {
      trace(values, from, to);
      fillDownTo([], colors.surface2, from, to);
    }
  }
  const stroke = (along: readonly (number | null)[], color: string, widthPx: number, dash: number[]) => {
    g.strokeStyle = color;
    g.lineWidth = widthPx;
    g.setLineDash(dash);
    for (const [from, to] of runsOf(along)) {
      trace(along, from, to);
      g.stroke();
    }
  };
  stroke(others, colors.ink2, 1.5, [2, 3]);
  stroke(values, colors.ink, below === "streams" ? 1.75 : 1.5, []);
  if (ago === null) return;
  g.fillStyle = colors.focus;
  g.fillRect(plotWidth * (1 - ago / (places - 1)) - 0.5, TOP_PX, 1, plotHeight);
}

/** Returns the ranges of values without a gap. */
function runsOf(values: readonly (number | null)[]): [from: number, to: number][] {
  const runs: [number, number][] = [];
  values.forEach((value, i) => {
    const last = runs.at(-1);
    if (value === null) return;
    if (last && last[1] === i - 1) last[1] = i;
    else runs.push([i, i]);
  });
  return runs;
}

/** "1.6k" from a thousand on: beside the plot there is room for four characters. */
export function axisLabel(value: number): string {
  if (value >= 1000) return `${Number((value / 1000).toPrecision(2))}k`;
  return value < 10 && !Number.isInteger(value) ? String(Number(value.toFixed(2))) : formatCount(value);
}
