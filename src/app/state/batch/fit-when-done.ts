import type { Pane } from "../chat/pane.ts";
import type { Dock } from "./dock.ts";
import type { Timeline } from "./timeline.ts";

/**
 * Fits the whole run into the timeline once all of these panes have their answers: the shared steps would have scrolled out
 * of view by then. Does nothing if somebody has zoomed meanwhile.
 */
export function fitWhenDone(
  panes: readonly Pick<Pane, "store">[],
  timeline: Pick<Timeline, "lastStep">,
  dock: Pick<Dock, "store" | "fit">,
): void {
  const begin = timeline.lastStep;
  const { stepPx } = dock.store.getState();
  let numBusy = panes.length;
  for (const { store } of panes) {
    const stop = store.subscribe(({ phase }, before) => {
      if (phase !== "idle" || before.phase === "idle") return;
      stop();
      numBusy -= 1;
      const zoom = dock.store.getState();
      if (numBusy === 0 && zoom.stepPx === stepPx && zoom.fitSteps === null) dock.fit(timeline.lastStep - begin);
    });
  }
}
