import type { Timeline } from "../../state/batch/timeline.ts";
import type { Surface } from "./use-canvas.ts";

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
export function stepAt(timeline: Timeline, x: number, width: number): number {
  return timeline.firstStep + Math.floor(x / scaleOf(timeline, width));
}

export function drawMinimap(
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
