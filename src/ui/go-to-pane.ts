import { flushSync } from "react-dom";
import type { AppState } from "../state/app-state.ts";
import { focusMessageOf } from "./pane/Composer.tsx";

/** Takes the person from the batch to a pane's message box; nowhere, where the pane has been closed since. */
export function goToPane({ workspace, batch }: Pick<AppState, "workspace" | "batch">, number: number): void {
  const pane = workspace.store.getState().panes.find((each) => each.number === number);
  if (!pane) return;
  // It must be drawn before its box can have the focus: on a phone it was not there.
  flushSync(() => {
    workspace.select(number);
    batch.dock.show(false);
  });
  focusMessageOf(pane);
}
