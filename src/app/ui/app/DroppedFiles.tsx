import { useEffect } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { attachText } from "../../state/chat/attached-text.ts";
import { remoteName } from "../../state/connections/connections.ts";
import { playRecording } from "../../state/player/pending-recording.ts";
import { focusMessageOf } from "../chat/Composer.tsx";

const hasFiles = (data: DataTransfer | null): data is DataTransfer => data?.types.includes("Files") === true;
const MODEL_FILE = /\.(?:safetensors|gguf|bin|onnx)$/i;

/**
 * Invisible. Takes files that are dropped on the chats or pasted into a box: a recording is played, the text of others goes into
 * the question of the pane below.
 */
export function DroppedFiles({ app }: { app: AppState }) {
  useEffect(() => {
    const paneAt = (place: EventTarget | null) => {
      const { panes, current } = app.workspace.store.getState();
      const label = place instanceof Element ? place.closest("section[aria-label^='Pane ']")?.ariaLabel : null;
      return panes.find(({ number }) => label === `Pane ${number}`) ?? panes.find(({ number }) => number === current);
    };
    const take = async (files: readonly File[], place: EventTarget | null) => {
      const recording = files.find(({ name }) => name.endsWith(".jsonl"));
      if (recording) return playRecording(recording.name, await recording.text());
      if (files.some(({ name }) => MODEL_FILE.test(name))) {
        throw new Error("Model files are opened in the list of models: drop them there.");
      }
      const pane = paneAt(place);
      if (!pane || (place instanceof Element && place.closest("dialog"))) return;
      const { answerer } = pane.store.getState();
      for (const file of files) {
        // oxlint-disable-next-line no-await-in-loop -- each takes its place behind the one before
        await attachText(pane, file);
        if (answerer) app.workspace.undoList.notify(`${file.name} goes with the question to ${remoteName(answerer)}`);
      }
      focusMessageOf(pane);
    };
    const tryTo = (data: DataTransfer, place: EventTarget | null) =>
      take([...data.files], place).catch((error: unknown) => {
        app.workspace.undoList.notify(error instanceof Error ? error.message : String(error));
      });
    // Else the browser would leave the page for a file that is dropped on it.
    const onDragOver = (event: DragEvent) => {
      if (hasFiles(event.dataTransfer)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      if (event.defaultPrevented || !hasFiles(event.dataTransfer)) return; // another part of the page takes it
      event.preventDefault();
      void tryTo(event.dataTransfer, event.target);
    };
    // What has a text, too, is pasted as that: a table's cells come with a picture of them.
    const onPaste = (event: ClipboardEvent) => {
      const { clipboardData, target } = event;
      if (!hasFiles(clipboardData) || clipboardData.types.includes("text/plain")) return;
      if (!(target instanceof Element) || target.closest("section[aria-label^='Pane '] form") === null) return;
      event.preventDefault();
      void tryTo(clipboardData, target);
    };
    document.addEventListener("dragover", onDragOver);
    document.addEventListener("drop", onDrop);
    document.addEventListener("paste", onPaste);
    return () => {
      document.removeEventListener("dragover", onDragOver);
      document.removeEventListener("drop", onDrop);
      document.removeEventListener("paste", onPaste);
    };
  }, [app]);
  return null;
}
