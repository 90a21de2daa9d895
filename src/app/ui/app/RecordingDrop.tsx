import { useEffect } from "react";
import { playRecording } from "../../state/player/pending-recording.ts";

const isOfFiles = ({ dataTransfer }: DragEvent) => dataTransfer?.types.includes("Files") === true;

/** Invisible. A recording that is dropped anywhere on the chats is played. */
export function RecordingDrop() {
  useEffect(() => {
    // Else the browser would leave the page for a file that is dropped on it.
    const onDragOver = (event: DragEvent) => {
      if (isOfFiles(event)) event.preventDefault();
    };
    const onDrop = (event: DragEvent) => {
      if (event.defaultPrevented || !isOfFiles(event)) return; // another part of the page takes it
      event.preventDefault();
      const file = [...(event.dataTransfer?.files ?? [])].find(({ name }) => name.endsWith(".jsonl"));
      if (file) void file.text().then((text) => playRecording(file.name, text));
    };
    document.addEventListener("dragover", onDragOver);
    document.addEventListener("drop", onDrop);
    return () => {
      document.removeEventListener("dragover", onDragOver);
      document.removeEventListener("drop", onDrop);
    };
  }, []);
  return null;
}
