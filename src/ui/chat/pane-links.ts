import { flushSync } from "react-dom";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { focusMessageOf } from "./Composer.tsx";

/** The way from a request to the pane that asked; null where that is not to be seen: closed since, or the demo's. */
export type PaneLinks = (requestId: string) => (() => void) | null;

/** Ways to the message boxes of `panes`, those that can be seen or be brought into view. */
export function linksTo(
  panes: readonly Pane[],
  { workspace, batch }: Pick<AppState, "workspace" | "batch">,
): PaneLinks {
  return (requestId) => {
    const pane = panes.find((each) => each.requestNames.has(requestId));
    if (!pane) return null;
    return () => {
      // It must be drawn before its box can have the focus: on a phone it was not there.
      flushSync(() => {
        workspace.select(pane.number);
        batch.dock.show(false);
      });
      focusMessageOf(pane);
    };
  };
}
