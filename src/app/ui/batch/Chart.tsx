import type { ReactNode } from "react";
import { classNames } from "../class-names.ts";
import css from "./Chart.module.css";
import { drawChart, plotWidthOf, type ChartDrawing } from "./draw-chart.ts";
import { canvasColors, type CanvasColors } from "./canvas-colors.ts";
import { Plot } from "./Plot.tsx";

/** The place in time whose values all charts show. */
export interface ChartCursor {
  /** Samples before the newest one; null if none is pointed at. */
  readonly ago: number | null;
  /** Accessible name of the chart that has it: the others only show it. */
  readonly owner: string;
  readonly move: (ago: number | null, owner: string) => void;
  /** Number of samples, and of those for which the charts have room. */
  readonly count: number;
  readonly places: number;
}

interface ChartProps {
  /** The current values, shown first. */
  title: ReactNode;
  /** Accessible name; the numbers are in the table, too. */
  label: string;
  drawing: (colors: CanvasColors) => ChartDrawing;
  cursor: ChartCursor;
  /** The values at the cursor, in words. */
  words: string;
}

/** A chart of the last minute below its current value, with the values under the pointer. */
export function Chart({ title, label, drawing, cursor, words }: ChartProps) {
  const { ago, owner, move, count, places } = cursor;
  return (
    <div className={classNames("column", css.chart)}>
      <h4>{title}</h4>
      <Plot
        className="grow"
        label={label}
        hint="Arrow keys move through time, Home and End to the oldest and the newest values."
        value={count - (ago ?? 0)}
        max={count}
        words={ago === null ? "No moment" : words}
        draw={(g, width, height) => {
          const colors = canvasColors();
          drawChart(g, width, height, colors, { ...drawing(colors), ago });
        }}
        cursor={ago}
        onCursor={(next) => {
          move(next === null || count === 0 ? null : Math.max(0, Math.min(count - 1, next)), label);
        }}
        cellAt={({ x }, width) => Math.round((1 - x / plotWidthOf(width)) * (places - 1))}
        move={(columns, rows) => (rows === 0 ? (ago === null ? 0 : ago - columns) : undefined)}
        cardAt={
          ago === null || owner !== label
            ? null
            : (width, height) => ({ left: plotWidthOf(width) * (1 - ago / (places - 1)), top: 0, bottom: height })
        }
        card={<p>{words}</p>}
      />
    </div>
  );
}
