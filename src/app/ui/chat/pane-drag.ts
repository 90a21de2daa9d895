import { useState, type DragEvent } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";

/** The type of dragged panes, as opposed to files and texts from elsewhere. */
const TYPE = "application/x-chorus-pane";

/** Puts the pane into the drag's data. */
export function startDrag(event: DragEvent, pane: Pane): void {
  event.dataTransfer.setData(TYPE, String(pane.number));
  event.dataTransfer.effectAllowed = "move";
}

/** Returns the handlers that move a dropped pane to this place, and whether one is over it. */
export function usePaneDrop(workspace: Workspace, place: number) {
  const [isOver, setOver] = useState(false);
  const isPane = (event: DragEvent) => event.dataTransfer.types.includes(TYPE);

  const onDragOver = (event: DragEvent) => {
    if (!isPane(event)) return;
    event.preventDefault(); // allows the drop
    setOver(true);
  };
  const onDragLeave = (event: DragEvent) => {
    if (!event.currentTarget.contains(event.relatedTarget as Node | null)) setOver(false);
  };
  const onDrop = (event: DragEvent) => {
    setOver(false);
    if (!isPane(event)) return;
    event.preventDefault();
    const number = Number(event.dataTransfer.getData(TYPE));
    const pane = workspace.store.getState().panes.find((one) => one.number === number);
    if (pane) workspace.movePaneTo(pane, place);
  };
  return { isOver, handlers: { onDragOver, onDragLeave, onDrop } };
}
