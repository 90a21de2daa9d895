import { useEffect, useMemo, useRef, useState, type KeyboardEvent } from "react";
import { askerOf, nameIn } from "../../state/chat/request-name.ts";
import type { Track } from "../../state/batch/timeline.ts";
import type { Batch } from "../../state/batch/batch.ts";
import { IconButton } from "../components/IconButton.tsx";
import { currentInks } from "./inks.ts";
import { useCanvas } from "./use-canvas.ts";
import { useStore } from "../use-store.ts";
import { cellSentence, factsOf, type CellFacts, type TokenLookup } from "./cell-facts.ts";
import { CursorArea } from "../components/CursorArea.tsx";
import { PointerCard, type Anchor } from "../components/PointerCard.tsx";
import type { PaneLinks } from "../chat/pane-links.ts";
import { drawTimeline, sumHeight, TOP_PX, type Marked } from "./draw-timeline.ts";
import panel from "./Panel.module.css";
import { TimelineCard } from "./TimelineCard.tsx";
import { TimelineLegend } from "./TimelineLegend.tsx";
import { TimelineMinimap } from "./TimelineMinimap.tsx";
import css from "./TimelinePanel.module.css";
import { TimelineRowLabel } from "./TimelineRowLabel.tsx";
import { TimelineTable } from "./TimelineTable.tsx";
import { TimelineView, type Place } from "./timeline-view.ts";
import { usePointerCursor, type Point } from "./use-pointer-cursor.ts";
import { useTimelineWheel } from "./use-timeline-wheel.ts";

interface TimelinePanelProps {
  batch: Batch;
  linkTo: PaneLinks;
  tokenOf: TokenLookup;
}

/** A card about a cell, and the cell's place. */
interface Tooltip {
  readonly facts: CellFacts;
  readonly at: Anchor;
}

const KEY_MOVES: Record<string, readonly [steps: number, rows: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  PageUp: [-20, 0],
  PageDown: [20, 0],
  Home: [-Infinity, 0],
  End: [Infinity, 0],
};

const ZOOMS = [
  { name: "Zoom out", direction: -1, icon: "minus", title: "Zoom out (−)" },
  { name: "Zoom in", direction: 1, icon: "plus", title: "Zoom in (+)" },
] as const;

/** Returns a row's height: 24 px; 20 from seven rows on, 12 from nine. */
function rowHeight(count: number): number {
  return count > 8 ? 12 : count > 6 ? 20 : 24;
}

/** The batch as a score: one row per sequence, one column per step. */
export function TimelinePanel({ batch, linkTo, tokenOf }: TimelinePanelProps) {
  const { timeline, dock, pointing } = batch;
  const view = useMemo(() => new TimelineView(timeline), [timeline]);
  const { stepPx, solo } = useStore(dock.store);
  const [rows, setRows] = useState<readonly (Track | null)[]>([]);
  const [cursor, setCursor] = useState<Place | null>(null);
  const [tooltip, setTooltip] = useState<Tooltip | null>(null);
  /** The last column of a window that is held. */
  const [toStep, setToStep] = useState(0);
  const [markedStep, setMarkedStep] = useState<number | null>(null);
  const rowPx = rowHeight(rows.length);

  const tooltipAt = (place: Place, drawnOn: HTMLElement, rowPxNow: number): Tooltip | null => {
    const track = view.trackAt(place);
    const { fromStep, toStep: lastShown } = view.window;
    if (!track || place.step < fromStep || place.step > lastShown) return null;
    const { left, top } = drawnOn.getBoundingClientRect();
    const y = top + TOP_PX + place.row * rowPxNow;
    const at = { left: left + (place.step - fromStep) * stepPx, top: y, bottom: y + rowPxNow };
    return { facts: factsOf(timeline, track, place.step, tokenOf), at };
  };

  /** Marks a cell's words in their text. */
  const link = (at: Place | null) => {
    const track = at && view.trackAt(at);
    const made = track?.outputsAt(at?.step ?? 0) ?? null;
    if (track && made) {
      pointing.point({ requestName: nameIn(track.id.requestId), index: track.id.index, ...made, by: "timeline" });
    } else pointing.leave("timeline");
  };

  const { canvas, redraw } = useCanvas((g, width) => {
    dock.settleZoom(width);
    view.hold(dock.store.getState().isPaused);
    const pointed = markedBy(batch);
    view.reveal(pointed?.fromStep ?? null);
    const { rows: shown, fromStep, toStep: lastShown } = view.refresh(Math.floor(width / stepPx));
    const { cursor: at } = view;
    // Its step may have come since it was placed. Pointing elsewhere is not replaced.
    if (at && at.step >= fromStep && at.step <= lastShown && pointing.store.getState() === null) link(at);
    // React renders the labels, which change far less often than the steps. A line is labelled by its newest sequence.
    const newest = shown.map((tracks) => tracks.at(-1) ?? null);
    setRows((before) => (isSameList(before, newest) ? before : newest));
    const row = pointed && view.rowOf(pointed.track);
    const marked = pointed && row !== null ? { ...pointed, row } : null;
    const rowsOf = (step: number) => timeline.rowsOf(step);
    const drawing = { rows: shown, rowPx: rowHeight(shown.length), stepPx, fromStep, toStep: lastShown, rowsOf, solo };
    drawTimeline(g, width, currentInks(), { ...drawing, cursor: view.cursor, marked });
    setMarkedStep(marked?.fromStep ?? null);
    const place = view.cursor ?? (marked?.isWord ? { step: marked.fromStep, row: marked.row } : null);
    const next = place && tooltipAt(place, g.canvas, rowHeight(shown.length));
    setTooltip((before) => (isSameTooltip(before, next) ? before : next));
    if (view.isHeld) setToStep(lastShown);
  });
  useEffect(() => {
    return timeline.subscribe(redraw);
  }, [timeline, redraw]);
  useEffect(() => {
    return pointing.store.subscribe(redraw);
  }, [pointing, redraw]);

  const place = (next: Place | null) => {
    view.placeCursor(next);
    setCursor(next);
    const track = next && view.trackAt(next);
    dock.point(track ? (askerOf(track.id.requestId)?.pane ?? null) : null);
    link(next);
    redraw();
  };
  const follow = (point: Point | null) => {
    if (point === null) return place(null);
    const row = Math.floor((point.y - TOP_PX) / rowPx);
    const step = view.window.fromStep + Math.floor(point.x / stepPx);
    place(row >= 0 && row < rows.length && step >= 1 ? { step, row } : null);
  };
  /** Ends the pause if the moved window follows the engine again. */
  const settle = () => {
    dock.pause(view.isHeld);
    redraw();
  };
  /** The dragged or scrolled part of a step, CSS pixels. */
  const restPx = useRef(0);
  const panBy = (px: number) => {
    restPx.current += px;
    const steps = Math.trunc(restPx.current / stepPx);
    restPx.current -= steps * stepPx;
    if (steps !== 0) view.pan(steps);
    settle();
  };
  const moveTo = (step: number) => {
    view.panTo(step);
    settle();
  };
  const goToCursor = () => {
    const track = view.cursor && view.trackAt(view.cursor);
    if (track) linkTo(track.id.requestId)?.();
  };
  const pointer = usePointerCursor({ onPoint: follow, onGo: goToCursor, onDrag: (px) => panBy(-px) });
  const onKeyDown = (event: KeyboardEvent) => {
    const move = KEY_MOVES[event.key];
    if (move) {
      view.moveCursor(...move);
      dock.pause(view.isHeld);
      place(view.cursor);
    } else if (event.key === "Enter") goToCursor();
    else if (event.key === "Escape") place(null);
    else if (event.key === " ") dock.togglePause();
    else if (event.key === "+" || event.key === "=") dock.zoom(1);
    else if (event.key === "-") dock.zoom(-1);
    else return;
    event.preventDefault();
  };
  useTimelineWheel(canvas, { onZoom: (direction) => dock.zoom(direction), onPan: panBy });

  const words = cursor && tooltip ? cellSentence(tooltip.facts) : "No cell";
  return (
    <section className={panel.panel} aria-label="Timeline" tabIndex={-1}>
      <div className={panel.head}>
        <h3>Timeline</h3>
        <TimelineLegend />
        <div className={css.zoom}>
          {ZOOMS.map(({ name, direction, icon, title }) => (
            <IconButton
              icon={icon}
              key={name}
              name={name}
              title={title}
              // Not `disabled`: zooming with the keyboard would lose the focus at the limit.
              aria-disabled={!dock.canZoom(direction)}
              onClick={() => dock.zoom(direction)}
            />
          ))}
        </div>
      </div>
      <div className={css.scroll} data-scrolls="">
        <div className={css.timeline} style={{ height: TOP_PX + rows.length * rowPx + sumHeight(rows.length) }}>
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
              <li className={css.sum} style={{ height: sumHeight(rows.length) }}>
                tokens
                <br />
                per step
              </li>
            )}
          </ol>
          <CursorArea
            className={css.canvas}
            label="Step and sequence"
            hint="Arrow keys move from cell to cell, Home and End to the oldest and the newest, Enter goes to the pane, plus and minus zoom, Space pauses."
            value={cursor?.step ?? timeline.lastStep}
            max={timeline.lastStep + 1}
            words={words}
            {...pointer}
            onKeyDown={onKeyDown}
          >
            <canvas ref={canvas} aria-hidden="true" />
          </CursorArea>
        </div>
        {rows.length === 0 && <p className={css.empty}>Every answer gets a row here.</p>}
      </div>
      <TimelineMinimap batch={batch} window={() => view.window} heldStep={toStep} marked={markedStep} onMove={moveTo} />
      <PointerCard at={tooltip?.at ?? null}>{tooltip && <TimelineCard facts={tooltip.facts} />}</PointerCard>
      <TimelineTable batch={batch} />
    </section>
  );
}

/** Returns the cells of tokens that are pointed at elsewhere; null if there are none, or they are forgotten. */
function markedBy({ timeline, pointing }: Batch): (Omit<Marked, "row"> & { track: Track; isWord: boolean }) | null {
  const pointed = pointing.store.getState();
  if (pointed === null || pointed.by === "timeline") return null;
  const { requestName, index, from, to } = pointed;
  const track = timeline.findTrack((id) => nameIn(id.requestId) === requestName && id.index === index);
  const steps = track && [track.stepOf(from), track.stepOf(Math.max(from, to - 1))];
  const fromStep = steps?.[0] ?? steps?.[1] ?? null;
  if (!track || fromStep === null) return null;
  return { track, fromStep, toStep: steps?.[1] ?? fromStep, isWord: pointed.by === "words" };
}

function isSameTooltip(one: Tooltip | null, other: Tooltip | null): boolean {
  if (one === null || other === null) return one === other;
  const isSamePlace = one.at.left === other.at.left && one.at.top === other.at.top && one.at.bottom === other.at.bottom;
  return isSamePlace && cellSentence(one.facts) === cellSentence(other.facts);
}

function isSameList<T>(a: readonly T[], b: readonly T[]): boolean {
  return a.length === b.length && a.every((item, index) => item === b[index]);
}
