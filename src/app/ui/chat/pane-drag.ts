import type { DragEvent } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { useDrop } from "../use-drop.ts";

/** The type of dragged panes, as opposed to files and texts from elsewhere. */
const TYPE = "application/x-chorus-pane";

export function startDrag(event: DragEvent, pane: Pane): void {
  event.dataTransfer.setData(TYPE, String(pane.number));
  event.dataTransfer.effectAllowed = "move";
}

/** Returns the handlers that move a dropped pane to this place, and whether one is over it. */
export function usePaneDrop(workspace: Workspace, place: number) {
  return useDrop((data) => {
    const number = Number(data.getData(TYPE));
    const pane = workspace.store.getState().panes.find((one) => one.number === number);
    if (pane) workspace.movePaneTo(pane, place);
  }, TYPE);
}
