import { useCallback, useEffect, useMemo, useState, type KeyboardEvent } from "react";
import { askerOf } from "../../state/chat/request-name.ts";
import type { Track } from "../../state/batch/timeline.ts";
import type { Batch } from "../../state/batch/batch.ts";
import { Button } from "../components/Button.tsx";
import { currentInks } from "./inks.ts";
import { useCanvas } from "./use-canvas.ts";
import { formatCount } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import { cellWords, sequenceName } from "./cell-words.ts";
import { CursorArea } from "../components/CursorArea.tsx";
import type { PaneLinks } from "../chat/pane-links.ts";
import { drawTimeline, SUM_PX, TOP_PX } from "./draw-timeline.ts";
import panel from "./Panel.module.css";
import { TimelineLegend } from "./TimelineLegend.tsx";
import css from "./TimelinePanel.module.css";
import { TimelineRowLabel } from "./TimelineRowLabel.tsx";
import { TimelineTable } from "./TimelineTable.tsx";
import { TimelineView, type Place } from "./timeline-view.ts";
import { usePointerCursor, type Point } from "./use-pointer-cursor.ts";

interface TimelinePanelProps {
  batch: Batch;
  linkTo: PaneLinks;
}

const KEY_MOVES: Record<string, readonly [steps: number, rows: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [-20, 0],
  PageDown: [20, 0],
};

const ZOOMS = [
  { name: "Zoom out", direction: -1, icon: "minus", title: "Zoom out (−)" },
  { name: "Zoom in", direction: 1, icon: "plus", title: "Zoom in (+)" },
] as const;

/** 24 px a row; 20 from seven rows on, 12 from nine. */
function rowHeight(count: number): number {
  return count > 8 ? 12 : count > 6 ? 20 : 24;
}

/** The batch as a score: one row per sequence, one column per step. */
export function TimelinePanel({ batch, linkTo }: TimelinePanelProps) {
  const { timeline, dock } = batch;
  const view = useMemo(() => new TimelineView(timeline), [timeline]);
  const { stepPx, solo, isPaused } = useStore(dock.store, (state) => state);
  const [rows, setRows] = useState<readonly (Track | null)[]>([]);
  const [cursor, setCursor] = useState<Place | null>(null);
  const [words, setWords] = useState("");
  const rowPx = rowHeight(rows.length);

  const { canvas, redraw } = useCanvas((g, width) => {
    dock.settleZoom(width);
    view.hold(isPaused);
    const { rows: shown, fromStep, toStep } = view.refresh(Math.floor(width / stepPx));
    // React renders the labels, which change far less often than the steps. A line is labelled by its newest sequence.
    const newest = shown.map((tracks) => tracks.at(-1) ?? null);
    setRows((before) => (isSameList(before, newest) ? before : newest));
    const rowsOf = (step: number) => timeline.rowsOf(step);
    const drawing = { rows: shown, rowPx: rowHeight(shown.length), stepPx, fromStep, toStep, rowsOf, solo };
    drawTimeline(g, width, currentInks(), { ...drawing, cursor: view.cursor });
    setWords(view.cursor ? wordsAt(view, view.cursor) : "");
  });
  useEffect(() => timeline.subscribe(redraw), [timeline, redraw]);

  const place = (next: Place | null) => {
    view.placeCursor(next);
    setCursor(next);
    const track = next && view.trackAt(next);
    dock.point(track ? (askerOf(track.id.requestId)?.pane ?? null) : null);
    redraw();
  };
  const follow = (point: Point | null) => {
    if (point === null) return place(null);
    const row = Math.floor((point.y - TOP_PX) / rowPx);
    const step = view.window.fromStep + Math.floor(point.x / stepPx);
    place(row >= 0 && row < rows.length && step >= 1 ? { step, row } : null);
  };
  const goToCursor = () => {
    const track = view.cursor && view.trackAt(view.cursor);
    if (track) linkTo(track.id.requestId)?.();
  };
  const pointer = usePointerCursor(follow, goToCursor);
  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEY_MOVES[event.key];
    if (move) {
      view.moveCursor(...move);
      place(view.cursor);
    } else if (event.key === "Enter") goToCursor();
    else if (event.key === "Escape") place(null);
    else if (event.key === " ") dock.togglePause();
    else if (event.key === "+" || event.key === "=") dock.zoom(1);
    else if (event.key === "-") dock.zoom(-1);
    else return;
    event.preventDefault();
  };

  // React listens to wheels passively, and the page's own zoom must not follow.
  const zoomByWheel = useCallback(
    (event: WheelEvent) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      dock.zoom(event.deltaY < 0 ? 1 : -1);
    },
    [dock],
  );
  useEffect(() => {
    const element = canvas.current;
    element?.addEventListener("wheel", zoomByWheel, { passive: false });
    return () => element?.removeEventListener("wheel", zoomByWheel);
  }, [canvas, zoomByWheel]);

  const column = cursor ? cursor.step - view.window.fromStep : 0;
  return (
    <section className={panel.panel} aria-label="Timeline" tabIndex={-1} data-many={rows.length > 12}>
      <div className={panel.head}>
        <h3>Timeline</h3>
        <TimelineLegend />
        <div className={css.zoom}>
          {ZOOMS.map(({ name, direction, icon, title }) => (
            <Button
              key={name}
              look="icon"
              aria-label={name}
              title={title}
              // Not `disabled`: zooming with the keyboard would lose the focus at the limit.
              aria-disabled={!dock.canZoom(direction)}
              onClick={() => dock.zoom(direction)}
            >
              <Icon name={icon} />
            </Button>
          ))}
        </div>
      </div>
      <div className={css.scroll}>
        <div className={css.timeline} style={{ height: TOP_PX + rows.length * rowPx + SUM_PX }}>
          <ol className={css.labels} style={{ paddingTop: TOP_PX }}>
            {rows.map((track, row) => (
              <li key={row} style={{ height: rowPx }}>
                {track && (
                  <TimelineRowLabel
                    id={track.id}
                    dock={dock}
                    isSmall={rowPx < 20}
                    onGoTo={linkTo(track.id.requestId)}
                  />
                )}
              </li>
            ))}
            {rows.length > 0 && (
              <li className={css.sum}>
                tokens
                <br />
                per step
              </li>
            )}
          </ol>
          <CursorArea
            className={css.canvas}
            label="Step and sequence"
            hint="Arrow keys move from cell to cell, Enter goes to the pane, plus and minus zoom, Space pauses."
            value={cursor?.step ?? timeline.lastStep}
            max={timeline.lastStep + 1}
            words={words || "No cell"}
            {...pointer}
            onKeyDown={onKeyDown}
          >
            <canvas ref={canvas} aria-hidden="true" />
          </CursorArea>
          {cursor && words !== "" && (
            <p
              className={css.words}
              aria-hidden="true"
              style={wordsStyle(column * stepPx, TOP_PX + (cursor.row + 1) * rowPx)}
            >
              {words}
            </p>
          )}
        </div>
        {rows.length === 0 && <p className={css.empty}>Every answer gets a row here.</p>}
      </div>
      <TimelineTable batch={batch} />
    </section>
  );
}

function wordsAt(view: TimelineView, place: Place): string {
  const track = view.trackAt(place);
  if (!track) return "";
  return `${sequenceName(track.id)}. Step ${formatCount(place.step)}: ${cellWords(view.cellAt(place))}`;
}

/** Places the words below the cell, but within the panel. */
function wordsStyle(x: number, y: number) {
  return { top: y + 4, left: `min(${64 + Math.max(0, x)}px, calc(100% - 300px))` };
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
