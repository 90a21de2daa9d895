import { useMemo } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { paneTurnOf } from "../../state/chat/request-name.ts";
import { TimelineRows } from "../../state/batch/timeline-rows.ts";
import { classNames } from "../class-names.ts";
import { useCanvas } from "./use-canvas.ts";

const STEP_PX = 6;
const FEWEST_ROWS = 4;

/** On a phone the batch is a strip: one line per pane, one mark per step. A tap opens all of it. @param isTall for sixteen lines */
export function BatchStrip({ batch, isTall = false }: { batch: Batch; isTall?: boolean }) {
  const { timeline, dock } = batch;
  const rows = useMemo(() => new TimelineRows(), []);
  const canvas = useCanvas(
    ({ g, width, height, colors }) => {
      const { fitSteps } = dock.store.getState();
      const stepPx = fitSteps === null ? STEP_PX : Math.min(STEP_PX, width / fitSteps);
      const columns = Math.floor(width / stepPx);
      const fromStep = timeline.lastStep + 2 - columns;
      const shown = rows.arrange(timeline.tracksIn(fromStep, timeline.lastStep + 1));
      const pitch = height / Math.max(FEWEST_ROWS, shown.length);
      const markPx = Math.max(1, Math.floor(pitch) - 2);
      for (const [row, track] of shown.flatMap((tracks, at) => tracks.map((one) => [at, one] as const))) {
        const y = Math.round(row * pitch);
        const hue = colors.panes[paneTurnOf(track.id.requestId)?.pane ?? 0] ?? colors.ink2;
        for (let column = 0; column < columns; column++) {
          const cell = track.cellAt(fromStep + column);
          if (!cell) continue;
          const x = column * stepPx;
          const [left, notePx] = stepPx < STEP_PX ? [x, stepPx] : [x + 1, STEP_PX / 2];
          const rests = cell.kind === "waiting" || cell.kind === "preempted";
          const widePx = cell.kind === "finished" ? Math.min(2, Math.max(1, stepPx)) : Math.max(2, stepPx - 1);
          g.fillStyle = rests ? colors.ink3 : hue;
          if (rests) g.fillRect(left, y + markPx / 2, notePx, 1);
          else if (cell.kind === "decode" || cell.kind === "drafted") {
            g.fillRect(left, y + Math.max(0, (markPx - 3) / 2), notePx, Math.min(3, markPx));
          } else g.fillRect(x, y, widePx, markPx);
        }
      }
    },
    [timeline, dock.store],
  );
  return (
    <button
      type="button"
      className={classNames("h-9 w-full border-0 bg-transparent px-3 pt-0 pb-2", isTall && "h-19")}
      aria-label="Open Batch"
      onClick={() => dock.show(true)}
    >
      <canvas ref={canvas} />
    </button>
  );
}
