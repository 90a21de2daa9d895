import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Callout } from "../components/Callout.tsx";
import { LoadingNote } from "./LoadingNote.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { useStore } from "../use-store.ts";
import css from "./PaneNote.module.css";

/** Shows, above the composer, this pane's error, or why its question waits. */
export function PaneNote({ pane, engine }: { pane: Pane; engine: EngineControl }) {
  const note = useStore(pane.store, (state) => state.note);
  const isHeld = useStore(pane.store, (state) => state.phase === "held");
  if (note === null) return isHeld ? <LoadingNote engine={engine} className={css.note} /> : null;
  return (
    <Callout tone={note.kind} title={note.title} className={css.note} onDismiss={() => pane.dismissNote()}>
      <p>{note.body}</p>
      {note.action === "start" && <StartAgainButton engine={engine} isQuiet />}
    </Callout>
  );
}
