import type { PointerEvent } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { formatCount } from "../format.ts";
import { drawMinimap, stepAt } from "./draw-minimap.ts";
import { Plot } from "./Plot.tsx";
import type { TimelineView } from "./timeline-view.ts";
import { useStore } from "../use-store.ts";

interface TimelineMinimapProps {
  batch: Batch;
  view: TimelineView;
  /** The last column of the timeline while it is paused; else null. */
  heldStep: number | null;
}

/** Columns that an arrow key moves the window by. */
const ARROW_STEPS = 10;

/** All steps that are remembered, and the part that the timeline shows, which can be moved. */
export function TimelineMinimap({ batch: { timeline, metrics }, view, heldStep }: TimelineMinimapProps) {
  // At most four times per second, with the figures.
  const lastStep = useStore(metrics.store, (figures) => figures.step);
  const marked = useStore(view.store, (state) => state.marked?.fromStep ?? null);
  const shown = () => view.store.getState();
  const numShown = () => shown().toStep - shown().fromStep + 1;
  const follow = ({ buttons, currentTarget, clientX, pointerId }: PointerEvent<HTMLElement>) => {
    if ((buttons & 1) === 0) return;
    currentTarget.setPointerCapture(pointerId);
    const { left, width } = currentTarget.getBoundingClientRect();
    view.panTo(Math.round(stepAt(timeline, clientX - left, width) + numShown() / 2));
  };
  const last = Math.min(timeline.lastStep, heldStep ?? lastStep);
  const from = Math.max(timeline.firstStep, last - numShown() + 1);
  return (
    <Plot<number>
      className="mt-1 ml-19 h-6 flex-none cursor-grab touch-none rounded-xs"
      label="Part of the timeline"
      hint="Arrow keys and Page Up and Page Down move it, Home goes to the oldest step, End to the newest."
      value={last}
      max={timeline.lastStep}
      words={
        last < from
          ? "No steps"
          : `Steps ${formatCount(from)} to ${formatCount(last)} of ${formatCount(timeline.lastStep)}`
      }
      sources={[timeline]}
      draw={(surface) => drawMinimap(surface, { timeline, ...shown(), marked })}
      cursor={null}
      onCursor={(step) => step !== null && view.panTo(step)}
      move={(columns, rows) => (rows === 0 ? Math.round(shown().toStep + ARROW_STEPS * columns) : undefined)}
      page={numShown() / ARROW_STEPS}
      onPointerDown={follow}
      onPointerMove={follow}
    />
  );
}
