import type { Demo } from "./demo.ts";
import type { Dock } from "../batch/dock.ts";
import type { Timeline } from "../batch/timeline.ts";

/** Opens the dock for the demo and zooms the timeline: at the end it shows both runs whole. Closing restores the zoom. */
export function zoomWithDemo(demo: Demo, timeline: Timeline, dock: Dock): void {
  let before: { readonly step: number; readonly stepPx: number } | null = null;
  demo.store.subscribe(({ phase }, { phase: phaseBefore }) => {
    if (phase === phaseBefore) return;
    if (phase === "running") {
      dock.openOnce();
      if (before) dock.zoomTo(before.stepPx);
      if (dock.store.getState().isPaused) dock.togglePause();
      before = { step: timeline.lastStep, stepPx: dock.store.getState().stepPx };
    }
    if (before === null) return;
    if (phase === "done") dock.fit(timeline.lastStep - before.step);
    if (phase === "closed") {
      dock.zoomTo(before.stepPx);
      before = null;
    }
  });
}
