import type { PaneState } from "../chat/pane-state.ts";
import type { Workspace } from "./workspace.ts";

/** Calls `listener` when the state of an open pane changes. Returns the function that ends that. */
export function followPanes(
  { store }: Pick<Workspace, "store">,
  listener: (now: PaneState, before: PaneState) => void,
): () => void {
  let stops: (() => void)[] = [];
  const follow = () => {
    for (const stop of stops) stop();
    stops = store.getState().panes.map((pane) => pane.store.subscribe(listener));
  };
  follow();
  const unsubscribe = store.subscribe(({ panes }, before) => panes !== before.panes && follow());
  return () => [unsubscribe, ...stops].forEach((stop) => stop());
}
