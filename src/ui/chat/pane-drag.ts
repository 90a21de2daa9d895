import { useState, type DragEvent } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";

/** Whose data it is that is dragged: files and texts from elsewhere are none of ours. */
const TYPE = "application/x-chorus-pane";

/** The pane follows the pointer by its head. */
export function startDrag(event: DragEvent, pane: Pane): void {
  event.dataTransfer.setData(TYPE, String(pane.number));
  event.dataTransfer.effectAllowed = "move";
}

/** Lets a dragged pane be dropped on this place; those from there on make room. */
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
