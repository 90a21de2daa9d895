import { useEffect, useState, type KeyboardEvent, type ReactNode } from "react";
import { classNames } from "../class-names.ts";
import { CursorArea } from "../components/CursorArea.tsx";
import { PointerCard, type Anchor } from "../components/PointerCard.tsx";
import { drawChart, plotWidthOf, type ChartDrawing } from "./draw-chart.ts";
import { currentInks, type Inks } from "./inks.ts";
import { useCanvas } from "./use-canvas.ts";
import css from "./Chart.module.css";
import { usePointerCursor, type Point } from "./use-pointer-cursor.ts";

/** The place in time whose values all charts show. */
export interface ChartCursor {
  /** Samples before the newest one; null if none is pointed at. */
  readonly ago: number | null;
  readonly move: (ago: number | null) => void;
  /** Number of samples, and of those for which the charts have room. */
  readonly count: number;
  readonly places: number;
}

interface ChartProps {
  /** The current values, shown first. */
  title: ReactNode;
  /** Accessible name; the numbers are in the table, too. */
  label: string;
  drawing: (inks: Inks) => ChartDrawing;
  cursor: ChartCursor;
  /** The values at the cursor, in words. */
  words: string;
}

const KEY_MOVES: Record<string, number> = {
  ArrowLeft: 1,
  ArrowRight: -1,
  PageUp: 20,
  PageDown: -20,
  Home: Infinity,
  End: -Infinity,
};

/** A chart of the last minute below its current value, with the values under the pointer. */
export function Chart({ title, label, drawing, cursor, words }: ChartProps) {
  const { ago, move, count, places } = cursor;
  /** Whether the cursor is this chart's own: the others only show it. */
  const [isOwn, setOwn] = useState(false);
  const [anchor, setAnchor] = useState<Anchor | null>(null);
  const { canvas } = useCanvas((g, width, height) => {
    const inks = currentInks();
    drawChart(g, width, height, inks, { ...drawing(inks), ago });
  });
  useEffect(() => {
    if (ago === null || !isOwn || !canvas.current) return setAnchor(null);
    const { left, top, bottom, width } = canvas.current.getBoundingClientRect();
    setAnchor({ left: left + plotWidthOf(width) * (1 - ago / (places - 1)), top, bottom });
  }, [canvas, ago, isOwn, places]);

  const go = (next: number | null) => {
    setOwn(next !== null);
    move(next === null || count === 0 ? null : Math.max(0, Math.min(count - 1, next)));
  };
  const follow = (point: Point | null) => {
    const width = canvas.current?.clientWidth ?? 0;
    if (point === null || width === 0) return go(null);
    go(Math.round((1 - point.x / plotWidthOf(width)) * (places - 1)));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const by = KEY_MOVES[event.key];
    if (by !== undefined) go(ago === null ? 0 : ago + by);
    else if (event.key === "Escape" && ago !== null) go(null);
    else return;
    event.preventDefault();
  };
  return (
    <div className={classNames("column", css.chart)}>
      <h4>{title}</h4>
      <CursorArea
        className="grow"
        label={label}
        hint="Arrow keys move through time, Home and End to the oldest and the newest values."
        value={count - (ago ?? 0)}
        max={count}
        words={ago === null ? "No moment" : words}
        {...usePointerCursor({ onPoint: follow })}
        onKeyDown={onKeyDown}
      >
        <canvas ref={canvas} aria-hidden="true" />
      </CursorArea>
      <PointerCard at={anchor}>
        <p>{words}</p>
      </PointerCard>
    </div>
  );
}
