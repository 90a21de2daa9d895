import { useStore } from "zustand";
import type { Pane } from "../../state/chat/pane.ts";
import { useApp } from "../app/page-context.ts";
import { Callout } from "../components/Callout.tsx";
import { StageBar } from "../engine/StageBar.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";

const PLACE = "mx-[max(12px,calc((100%_-_608px)/2))] mb-2 max-h-[45%] flex-none overflow-auto";

/** Shows, above the composer, this pane's error, or why its question waits. */
export function PaneNote({ pane }: { pane: Pane }) {
  const note = useStore(pane.store, (state) => state.note);
  const isHeld = useStore(pane.store, (state) => state.phase === "held");
  if (note === null) return isHeld ? <LoadingNote /> : null;
  return (
    <Callout tone={note.kind} title={note.title} className={PLACE} onDismiss={() => pane.notify(null)}>
      <p>{note.body}</p>
      {note.action === "start" && <StartAgainButton isQuiet />}
    </Callout>
  );
}

function LoadingNote() {
  const stages = useStore(useApp().engine.store, (state) => (state.status === "loading" ? state.stages : null));
  if (stages === null) return null;
  return (
    <Callout tone="info" title="Sent when the model is ready" className={PLACE}>
      <StageBar stages={stages} />
    </Callout>
  );
}
