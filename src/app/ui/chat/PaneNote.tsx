import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { Button } from "../components/Button.tsx";
import { classNames } from "../class-names.ts";
import { Icon } from "../components/Icon.tsx";
import { LoadingNote } from "./LoadingNote.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { useStore } from "../use-store.ts";
import css from "./PaneNote.module.css";

/** Shows, above the composer, this pane's error, or why its question waits. */
export function PaneNote({ pane, engine }: { pane: Pane; engine: EngineControl }) {
  const note = useStore(pane.store, (state) => state.note);
  const isHeld = useStore(pane.store, (state) => state.phase === "held");
  if (note === null) return isHeld ? <LoadingNote engine={engine} className={classNames(css.note, css.info)} /> : null;
  return (
    <div className={classNames(css.note, css[note.kind])} role={note.kind === "bad" ? "alert" : "status"}>
      <div className={css.head}>
        <h3>
          {note.kind !== "info" && <Icon name="warn" />}
          {note.title}
        </h3>
        <Button look="icon" className={css.dismiss} aria-label="Dismiss" onClick={() => pane.dismissNote()}>
          <Icon name="close" />
        </Button>
      </div>
      <p>{note.body}</p>
      {note.action === "start" && (
        <div className={css.actions}>
          <StartAgainButton engine={engine} isQuiet />
        </div>
      )}
    </div>
  );
}
