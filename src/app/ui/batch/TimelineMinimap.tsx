import type { PointerEvent } from "react";
import { useStore } from "zustand";
import type { Batch } from "../../state/batch/batch.ts";
import { formatCount } from "../format.ts";
import { Plot } from "./Plot.tsx";
import type { TimelineView } from "./timeline-view.ts";
import type { Timeline } from "../../state/batch/timeline.ts";
import type { Surface } from "./use-canvas.ts";

/** Columns that an arrow key moves the window by. */
const ARROW_STEPS = 10;

/** All steps that are remembered, and the part that the timeline shows, which can be moved. */
export function TimelineMinimap({ batch: { timeline, metrics }, view }: { batch: Batch; view: TimelineView }) {
  // At most four times per second, with the figures.
  const lastStep = useStore(metrics.store, (figures) => figures.step);
  const heldStep = useStore(view.store, (state) => state.heldStep);
  const marked = useStore(view.store, (state) => state.marked?.fromStep ?? null);
  const shown = () => view.store.getState();
  const numShown = () => shown().toStep - shown().fromStep + 1;
  const follow = ({ buttons, currentTarget, clientX, pointerId }: PointerEvent<HTMLElement>) => {
    if ((buttons & 1) === 0) return;
    currentTarget.setPointerCapture(pointerId);
    const { left, width } = currentTarget.getBoundingClientRect();
    const step = timeline.firstStep + Math.floor((clientX - left) / scaleOf(timeline, width));
    view.panTo(Math.round(step + numShown() / 2));
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
      draw={(surface) => drawMinimap(surface, timeline, shown(), marked)}
      cursor={null}
      onCursor={(step) => step !== null && view.panTo(step)}
      // What is drawn may be a key behind.
      move={(columns, rows) => (rows === 0 ? Math.round(view.lastShown + ARROW_STEPS * columns) : undefined)}
      page={numShown() / ARROW_STEPS}
      onPointerDown={follow}
      onPointerMove={follow}
    />
  );
}

/** Few steps are not stretched over the whole width: a step is at most this wide, CSS pixels. */
const WIDEST_STEP_PX = 3;

/** Returns the width of a step, for all kept steps and the column after them: steps are bars of the tokens they computed. */
function scaleOf(timeline: Timeline, width: number): number {
  return Math.min(WIDEST_STEP_PX, width / (timeline.lastStep - timeline.firstStep + 2));
}

function drawMinimap(
  { g, width, height, colors }: Surface,
  timeline: Timeline,
  { fromStep, toStep }: { fromStep: number; toStep: number },
  marked: number | null,
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
