import { useEffect } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { useApp } from "./page-context.ts";
import { listen } from "../listen.ts";
import type { Pane } from "../../state/chat/pane.ts";

const hasFiles = (data: DataTransfer | null): data is DataTransfer => data?.types.includes("Files") === true;

/** Invisible. Takes files that are dropped on the chats or pasted into a box, for the pane below. */
export function DroppedFiles() {
  const app = useApp();
  useEffect(() => {
    const paneAt = (place: EventTarget | null) => {
      const { panes, current } = app.workspace.store.getState();
      const label = place instanceof Element ? place.closest("section[aria-label^='Pane ']")?.ariaLabel : null;
      return panes.find(({ number }) => label === `Pane ${number}`) ?? panes.find(({ number }) => number === current);
    };
    const take = ({ files }: DataTransfer, place: EventTarget | null) => {
      const pane = paneAt(place);
      if (pane && !(place instanceof Element && place.closest("dialog"))) void giveFiles(app, pane, [...files]);
    };
    const onDrop = (event: DragEvent) => {
      if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return; // another part of the page takes it
      take(event.dataTransfer, event.target);
    };
    // What has a text, too, is pasted as that: a table's cells come with a picture of them.
    const onPaste = (event: ClipboardEvent) => {
      const { clipboardData, target } = event;
      if (!hasFiles(clipboardData) || clipboardData.types.includes("text/plain")) return;
      if (!(target instanceof Element) || target.closest("section[aria-label^='Pane '] form") === null) return;
      event.preventDefault();
      take(clipboardData, target);
    };
    return listen(document, { drop: onDrop, paste: onPaste });
  }, [app]);
  return null;
}

/** Gives files to a pane. What reads them is loaded with the first. */
export async function giveFiles(app: AppState, pane: Pane, files: readonly File[]): Promise<void> {
  const reader = await import("./take-files.ts").catch(() => null);
  if (reader) await reader.takeFiles(app, pane, files);
  else app.workspace.undoList.notify("Files can't be read now. Reload the page when the network is back.");
}
