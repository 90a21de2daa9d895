import { useEffect, useRef, useState } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { Button } from "../components/Button.tsx";
import { formatBytes } from "../format.ts";
import { Icon } from "../components/Icon.tsx";
import { useStore } from "../use-store.ts";
import css from "./ModelList.module.css";
import { useRunning } from "./use-running.ts";

interface ModelActionsProps {
  app: AppState;
  model: ShelfModel;
  /** Called when the model was chosen, and runs. */
  onUsed: () => void;
}

/** The buttons for a model's current state. */
export function ModelActions({ app: { engine, shelf }, model, onUsed }: ModelActionsProps) {
  const running = useRunning(engine, model);
  const runningDtype = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model.dtype : null));
  const isSwitching = useStore(shelf.store, (state) => state.switchingTo !== null);
  const [isConfirming, setConfirming] = useState(false);
  const { key, title, about, stored, isEmbedded, isDownloading, dtype, error } = model;

  if (isConfirming && stored) {
    const remove = () => {
      setConfirming(false);
      void shelf.remove(key);
    };
    return <ConfirmDelete bytes={stored.receivedBytes} onDelete={remove} onKeep={() => setConfirming(false)} />;
  }
  const use = async () => {
    if (await shelf.use(key)) onUsed();
  };
  const isHere = isEmbedded || stored?.status === "whole";
  const isBrought = !isEmbedded && about === null;
  const isOtherDtype = running === "running" && dtype !== null && runningDtype !== dtype;
  return (
    <div className={css.actions}>
      {isDownloading && (
        <>
          <Button aria-label={`Pause ${title}`} onClick={() => void shelf.pause(key)}>
            Pause
          </Button>
          <Button look="icon" aria-label={`Cancel ${title}`} title="Cancel" onClick={() => void shelf.remove(key)}>
            <Icon name="close" />
          </Button>
        </>
      )}
      {!isDownloading && !isHere && (
        <Button
          aria-label={`${stored ? "Resume" : "Download"} ${title}`}
          disabled={running !== "no"}
          onClick={() => void shelf.download(key)}
        >
          {stored ? "Resume" : "Download"}
        </Button>
      )}
      {isHere && (running === "no" || isOtherDtype) && (
        <Button
          aria-label={`Use ${title}${dtype ? ` as ${dtype}` : ""}`}
          disabled={isSwitching}
          onClick={() => void use()}
        >
          Use{isOtherDtype && ` as ${dtype}`}
        </Button>
      )}
      {error && isBrought && !stored && (
        <Button
          look="icon"
          aria-label={`Remove ${title} from the list`}
          title="Remove from the list"
          onClick={() => void shelf.remove(key)}
        >
          <Icon name="close" />
        </Button>
      )}
      {stored && !isDownloading && (
        <Button
          look="icon"
          aria-label={`Delete ${title}`}
          title={running === "no" ? "Delete" : "In use: choose another model first"}
          disabled={running !== "no"}
          onClick={() => setConfirming(true)}
        >
          <Icon name="trash" />
        </Button>
      )}
    </div>
  );
}

function ConfirmDelete({ bytes, onDelete, onKeep }: { bytes: number; onDelete: () => void; onKeep: () => void }) {
  const keep = useRef<HTMLButtonElement>(null);
  // The pressed button is gone. The choice that loses nothing gets the focus.
  useEffect(() => {
    keep.current?.focus();
  }, []);
  return (
    <div className={css.actions}>
      <Button look="ink" onClick={onDelete}>
        Delete {formatBytes(bytes)}
      </Button>
      <Button ref={keep} onClick={onKeep}>
        Keep
      </Button>
    </div>
  );
}
