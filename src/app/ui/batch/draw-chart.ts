import { formatCount } from "../format.ts";
import type { CanvasColors } from "./canvas-colors.ts";

/** One line of a chart. A null breaks it. */
interface Series {
  readonly values: readonly (number | null)[];
  readonly color: string;
  readonly dash?: readonly number[];
  readonly widthPx?: number;
  /** Colour of the area below the line. */
  readonly fill?: string;
}

export interface ChartDrawing {
  /** Places along the time axis; the newest value is at the right edge. */
  readonly places: number;
  readonly series: readonly Series[];
  /** Stacked areas, the lowest first. */
  readonly stack?: readonly { readonly values: readonly number[]; readonly color: string; readonly isOpen: boolean }[];
  /** The axis reaches at least this. */
  readonly least: number;
  /** The value with the cursor, counted from the newest. [none] */
  readonly ago?: number | null;
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

/** Draws a chart over time with three grid lines. */
export function drawChart(
  g: CanvasRenderingContext2D,
  width: number,
  height: number,
  colors: CanvasColors,
  drawing: ChartDrawing,
) {
  const { places, series, stack = [], least, ago = null } = drawing;
  const plotWidth = plotWidthOf(width);
  const plotHeight = height - TOP_PX - BOTTOM_PX;
  const sums = stackSums(stack);
  const top = sums.at(-1) ?? [];
  const most = Math.max(least, ...top, ...series.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const max = roundUp(most);
  const x = (index: number, length: number) => plotWidth * (1 - (length - 1 - index) / (places - 1));
  const y = (value: number) => TOP_PX + plotHeight * (1 - value / max);

  g.font = `400 11px ${colors.sans}`;
  for (const share of [0, 0.5, 1]) {
    g.fillStyle = colors.line;
    g.fillRect(0, Math.round(y(share * max)), plotWidth, 1);
    g.fillStyle = colors.ink3;
    g.fillText(axisLabel(share * max), plotWidth + 4, y(share * max) + 4);
  }
  for (const [layer, { color, isOpen }] of stack.entries()) {
    const upper = sums[layer] ?? [];
    const lower = sums[layer - 1];
    g.beginPath();
    // A single value has an area of one pixel's width.
    const left = x(0, upper.length) - (upper.length === 1 ? 1 : 0);
    g.moveTo(left, y(upper[0] ?? 0));
    upper.forEach((value, i) => g.lineTo(x(i, upper.length), y(value)));
    for (let i = upper.length - 1; i >= 0; i--) g.lineTo(x(i, upper.length), y(lower?.[i] ?? 0));
    g.lineTo(left, y(lower?.[0] ?? 0));
    g.fillStyle = color;
    // Voices 9 to 16 are open: pale, to distinguish them from voices 1 to 8 of a similar hue.
    g.globalAlpha = isOpen ? 0.5 : 1;
    g.fill();
    g.globalAlpha = 1;
  }
  for (const { values, color, dash = [], widthPx = 1.5, fill } of series) {
    for (const [from, to] of runsOf(values)) {
      const line = () => {
        g.beginPath();
        for (let i = from; i <= to; i++) g.lineTo(x(i, values.length), y(values[i] ?? 0));
        // A single value is a dot.
        if (from === to) g.lineTo(x(from, values.length) + 1, y(values[from] ?? 0));
      };
      if (fill !== undefined) {
        line();
        g.lineTo(x(to, values.length), y(0));
        g.lineTo(x(from, values.length), y(0));
        g.fillStyle = fill;
        g.fill();
      }
      line();
      g.strokeStyle = color;
      g.lineWidth = widthPx;
      g.setLineDash([...dash]);
      g.stroke();
    }
  }
  g.setLineDash([]);
  if (ago === null) return;
  g.fillStyle = colors.focus;
  g.fillRect(plotWidth * (1 - ago / (places - 1)) - 0.5, TOP_PX, 1, plotHeight);
}

function stackSums(stack: NonNullable<ChartDrawing["stack"]>): number[][] {
  const sums: number[][] = [];
  for (const [layer, { values }] of stack.entries()) {
    sums.push(values.map((value, i) => value + (sums[layer - 1]?.[i] ?? 0)));
  }
  return sums;
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
