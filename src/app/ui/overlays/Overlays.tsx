import { useStore } from "zustand";
import { useShortcuts } from "../actions/use-shortcuts.ts";
import { usePage } from "../app/page-context.ts";
import { Dialog } from "../components/Dialog.tsx";

/** Shows the page's open dialog, and opens others by their keys. */
export function Overlays() {
  const page = usePage();
  const { overlay } = page;
  useShortcuts(page);
  const opened = useStore(overlay.store);
  if (opened === null) return null;
  const { number, content } = opened;
  return <Dialog key={number} content={content} onClosed={() => overlay.close(opened)} />;
}
