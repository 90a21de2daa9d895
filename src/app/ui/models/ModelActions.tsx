import type { AppState } from "../../state/app/app-state.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes } from "../format.ts";
import { useStore } from "../use-store.ts";
import { useRunning } from "./ModelStatus.tsx";

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
  const { key, title, about, stored, isEmbedded, isDownloading, dtype } = model;

  const use = async () => {
    if (await shelf.use(key)) onUsed();
  };
  const isHere = isEmbedded || stored?.status === "whole";
  const isBrought = !isEmbedded && about === null;
  const asDtype = dtype === null ? "" : ` as ${DTYPE_WORDS[dtype].toLowerCase()}`;
  const isOtherDtype = running === "running" && dtype !== null && runningDtype !== dtype;
  return (
    <Confirm
      isShort
      question={`Delete ${title}?`}
      verb={`Delete ${formatBytes(stored?.receivedBytes ?? 0)}`}
      className="row justify-end gap-1 max-sm:min-h-9 max-sm:[grid-area:2/3]"
      onConfirm={() => void shelf.remove(key)}
    >
      {(bin) => (
        <div className="row justify-end gap-1 max-sm:min-h-9 max-sm:[grid-area:2/3]">
          {isDownloading && (
            <>
              <Button aria-label={`Pause ${title}`} onClick={() => void shelf.pause(key)}>
                Pause
              </Button>
              <IconButton icon="close" name={`Cancel ${title}`} title="Cancel" onClick={() => void shelf.remove(key)} />
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
            <Button aria-label={`Use ${title}${asDtype}`} disabled={isSwitching} onClick={() => void use()}>
              Use{isOtherDtype && asDtype}
            </Button>
          )}
          {isBrought && !stored && !isDownloading && (
            <IconButton
              icon="close"
              name={`Remove ${title} from the list`}
              title="Remove from the list"
              onClick={() => void shelf.remove(key)}
            />
          )}
          {stored && !isDownloading && (
            <IconButton
              icon="trash"
              name={`Delete ${title}`}
              title={running === "no" ? "Delete" : "In use: choose another model first"}
              disabled={running !== "no"}
              {...bin}
            />
          )}
        </div>
      )}
    </Confirm>
  );
}
