import { useStore } from "zustand";
import type { LibraryModel } from "../../state/models/model-library.ts";
import { useApp } from "../app/page-context.ts";
import { Button, IconButton } from "../components/Button.tsx";
import { Confirm } from "../components/Confirm.tsx";
import { useClose } from "../components/Dialog.tsx";
import { DTYPE_WORDS } from "../dtype-words.ts";
import { formatBytes } from "../format.ts";
import { useRunning } from "./ModelStatus.tsx";

export function ModelActions({ model }: { model: LibraryModel }) {
  const { engine, library } = useApp();
  const close = useClose();
  const running = useRunning(engine, model);
  const runningDtype = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model.dtype : null));
  const isSwitching = useStore(library.store, (state) => state.switchingTo !== null);
  const { key, title, about, stored, isEmbedded, isDownloading, dtype } = model;

  const use = async () => {
    if (await library.use(key)) close();
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
      onConfirm={() => void library.remove(key)}
    >
      {(bin) => (
        <div className="row justify-end gap-1 max-sm:min-h-9 max-sm:[grid-area:2/3]">
          {isDownloading && (
            <>
              <Button aria-label={`Pause ${title}`} onClick={() => void library.pause(key)}>
                Pause
              </Button>
              <IconButton
                icon="close"
                name={`Cancel ${title}`}
                title="Cancel"
                onClick={() => void library.remove(key)}
              />
            </>
          )}
          {!isDownloading && !isHere && (
            <Button
              aria-label={`${stored ? "Resume" : "Download"} ${title}`}
              disabled={running !== "no"}
              onClick={() => void library.download(key)}
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
              onClick={() => void library.remove(key)}
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
