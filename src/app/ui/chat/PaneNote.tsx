import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Callout } from "../components/Callout.tsx";
import { StageBar } from "../engine/StageBar.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { useStore } from "../use-store.ts";

/** Shows, above the composer, this pane's error, or why its question waits. */
export function PaneNote({ pane, engine }: { pane: Pane; engine: EngineControl }) {
  const note = useStore(pane.store, (state) => state.note);
  const isHeld = useStore(pane.store, (state) => state.phase === "held");
  if (note === null) return isHeld ? <LoadingNote engine={engine} /> : null;
  return (
    <Callout
      tone={note.kind}
      title={note.title}
      className="mx-[max(12px,calc((100%_-_608px)/2))] mb-2 max-h-[45%] flex-none overflow-auto"
      onDismiss={() => pane.notify(null)}
    >
      <p>{note.body}</p>
      {note.action === "start" && <StartAgainButton engine={engine} isQuiet />}
    </Callout>
  );
}

/** The loading progress, while the question waits for the model. */
function LoadingNote({ engine }: { engine: EngineControl }) {
  const stages = useStore(engine.store, (state) => (state.status === "loading" ? state.stages : null));
  if (stages === null) return null;
  return (
    <Callout
      tone="info"
      title="Sent when the model is ready"
      className="mx-[max(12px,calc((100%_-_608px)/2))] mb-2 max-h-[45%] flex-none overflow-auto"
    >
      <StageBar stages={stages} />
    </Callout>
  );
}
