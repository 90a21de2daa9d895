import { useEffect, type KeyboardEvent, type PointerEvent } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { CursorArea } from "../components/CursorArea.tsx";
import { formatCount } from "../format.ts";
import { drawMinimap, stepAt } from "./draw-minimap.ts";
import { currentInks } from "./inks.ts";
import css from "./TimelinePanel.module.css";
import { useCanvas } from "./use-canvas.ts";
import { useStore } from "../use-store.ts";

interface TimelineMinimapProps {
  batch: Batch;
  /** The columns that the timeline shows. */
  window: () => { readonly fromStep: number; readonly toStep: number };
  /** The last column of a window that is held; it renders the minimap again when it is moved. */
  heldStep: number;
  /** A step that somebody points at; null for none. */
  marked: number | null;
  /** Moves the window to this last column. */
  onMove: (toStep: number) => void;
}

/** All steps that are remembered, and the part that the timeline shows, which can be moved. */
export function TimelineMinimap({ batch, window, heldStep, marked, onMove }: TimelineMinimapProps) {
  const { timeline } = batch;
  // At most four times per second, with the figures.
  const lastStep = useStore(batch.metrics.store, (figures) => figures.step);
  const isPaused = useStore(batch.dock.store, (state) => state.isPaused);
  const { canvas, redraw } = useCanvas((g, width, height) =>
    drawMinimap(g, width, height, currentInks(), { timeline, ...window(), marked }),
  );
  useEffect(() => {
    return timeline.subscribe(redraw);
  }, [timeline, redraw]);

  const numShown = () => window().toStep - window().fromStep + 1;
  const follow = ({ buttons, currentTarget, clientX, pointerId }: PointerEvent<HTMLElement>) => {
    if ((buttons & 1) === 0) return;
    currentTarget.setPointerCapture(pointerId);
    const { left, width } = currentTarget.getBoundingClientRect();
    onMove(Math.round(stepAt(timeline, clientX - left, width) + numShown() / 2));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const moves: Record<string, number> = {
      ArrowLeft: -10,
      ArrowRight: 10,
      PageUp: -numShown(),
      PageDown: numShown(),
      Home: -Infinity,
      End: Infinity,
    };
    const move = moves[event.key];
    if (move === undefined) return;
    event.preventDefault();
    onMove(window().toStep + move);
  };
  const last = Math.min(timeline.lastStep, isPaused ? heldStep : lastStep);
  const from = Math.max(timeline.firstStep, last - numShown() + 1);
  return (
    <CursorArea
      className={css.minimap}
      label="Part of the timeline"
      hint="Arrow keys and Page Up and Page Down move it, Home goes to the oldest step, End to the newest."
      value={last}
      max={timeline.lastStep}
      words={
        last < from
          ? "No steps"
          : `Steps ${formatCount(from)} to ${formatCount(last)} of ${formatCount(timeline.lastStep)}`
      }
      onPointerDown={follow}
      onPointerMove={follow}
      onKeyDown={onKeyDown}
    >
      <canvas ref={canvas} aria-hidden="true" />
    </CursorArea>
  );
}
