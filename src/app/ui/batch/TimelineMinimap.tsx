import type { PointerEvent } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { formatCount } from "../format.ts";
import { Plot } from "./Plot.tsx";
import type { TimelineView } from "./timeline-view.ts";
import { useStore } from "../use-store.ts";
import type { Timeline } from "../../state/batch/timeline.ts";
import type { Surface } from "./use-canvas.ts";

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

interface MinimapDrawing {
  readonly timeline: Timeline;
  /** The columns that the timeline shows. */
  readonly fromStep: number;
  readonly toStep: number;
  readonly marked: number | null;
}

/** Few steps are not stretched over the whole width: a step is at most this wide, CSS pixels. */
const WIDEST_STEP_PX = 3;

/** Returns the width of a step, for all kept steps and the column after them: steps are bars of the tokens they computed. */
function scaleOf(timeline: Timeline, width: number): number {
  return Math.min(WIDEST_STEP_PX, width / (timeline.lastStep - timeline.firstStep + 2));
}

/** Returns the step at a place of the minimap. */
function stepAt(timeline: Timeline, x: number, width: number): number {
  return timeline.firstStep + Math.floor(x / scaleOf(timeline, width));
}

function drawMinimap(
  { g, width, height, colors }: Surface,
  { timeline, fromStep, toStep, marked }: MinimapDrawing,
): void {
  const { firstStep, lastStep } = timeline;
  const scale = scaleOf(timeline, width);
  const x = (step: number) => (step - firstStep) * scale;
  // One bar a pixel: its tallest step.
  const bars = new Float64Array(Math.ceil(width));
  let most = 8;
  for (let step = firstStep; step <= lastStep; step++) {
    const rows = timeline.rowsOf(step)?.rows ?? 0;
    const at = Math.floor(x(step));
    bars[at] = Math.max(bars[at] ?? 0, rows);
    most = Math.max(most, rows);
  }
  g.fillStyle = colors.surface2;
  g.fillRect(0, 0, width, height);
  const left = Math.max(0, x(fromStep));
  const right = Math.min(width, Math.max(left + 4, x(toStep + 1)));
  g.fillStyle = colors.surface;
  g.fillRect(left, 0, right - left, height);
  g.fillStyle = colors.ink3;
  const barPx = Math.max(1, Math.floor(scale));
  for (const [at, rows] of bars.entries()) {
    const tall = rows === 0 ? 0 : Math.max(1, (rows / most) * (height - 3));
    if (tall > 0) g.fillRect(at, height - 1 - tall, barPx, tall);
  }
  g.strokeStyle = colors.control;
  g.lineWidth = 1;
  g.strokeRect(left + 0.5, 0.5, Math.max(3, right - left - 1), height - 1);
  if (marked === null) return;
  g.fillStyle = colors.focus;
  g.fillRect(x(marked) - 0.5, 0, Math.max(2, scale), height);
}
