import type { Pane } from "../chat/pane.ts";
import { until } from "../store.ts";
import type { Dock } from "./dock.ts";
import type { Timeline } from "./timeline.ts";

/** Fits the whole run into the timeline once all these panes have answers, unless somebody has zoomed meanwhile. */
export function fitWhenDone(
  panes: readonly Pick<Pane, "store">[],
  timeline: Pick<Timeline, "lastStep">,
  dock: Pick<Dock, "store" | "fit">,
): void {
  const begin = timeline.lastStep;
  const { stepPx } = dock.store.getState();
  void Promise.all(panes.map(({ store }) => until(store, ({ phase }) => phase === "idle"))).then(() => {
    const zoom = dock.store.getState();
    if (zoom.stepPx === stepPx && zoom.fitSteps === null) dock.fit(timeline.lastStep - begin);
  });
}
