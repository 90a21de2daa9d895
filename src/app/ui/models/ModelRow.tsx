import { useEffect, useId, useRef } from "react";
import type { CatalogueEntry } from "../../../index.ts";
import type { LibraryModel } from "../../state/models/model-library.ts";
import { isOnThisComputer } from "../../state/models/model-list.ts";
import { useApp } from "../app/page-context.ts";
import { IconButton, Button, Icon } from "../components/Button.tsx";
import { formatCount, formatBytes, formatBytesOf, formatTimeLeft } from "../format.ts";
import { ModelDetails } from "./ModelDetails.tsx";
import { ErrorNote } from "./ErrorNote.tsx";
import { useStore } from "zustand";
import { Confirm } from "../components/Confirm.tsx";
import { useClose } from "../components/Dialog.tsx";
import { DTYPE_WORDS } from "../dtype-words.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { StageBar } from "../engine/StageBar.tsx";
import { useOnline } from "../use-media.ts";
import { keyOfChoice } from "../../state/models/model-choice.ts";

/** The use of each kind of model. */
const KIND_WORDS: Readonly<Record<CatalogueEntry["kind"], string>> = {
  chat: "chats",
  instruction: "follows instructions",
  base: "continues text",
  test: "random words",
};

interface ModelRowProps {
  model: LibraryModel;
  isOpened: boolean;
  onToggle: () => void;
  onAdded: (key: string) => void;
}

export function ModelRow({ model, isOpened, onToggle, onAdded }: ModelRowProps) {
  const { engine, library } = useApp();
  const running = useRunning(engine, model);
  const detailsId = useId();
  const { title, about, choice, isEmbedded, estimate, stored, error } = model;
  const numParameters = estimate?.numParameters ?? about?.numParameters ?? null;
  const row = useRef<HTMLLIElement>(null);
  // Details that open at the list's lower edge come into view, and so do their later figures.
  useEffect(() => {
    if (isOpened) row.current?.scrollIntoView({ block: "nearest" });
  }, [isOpened, estimate]);
  // The button that opened it is gone if it stood in another model's details.
  useEffect(() => {
    if (isOpened && document.activeElement === document.body) row.current?.querySelector("button")?.focus();
  }, [isOpened]);
  return (
    <li
      ref={row}
      className="border-b border-line py-0 pr-6 pl-4 max-sm:py-2 max-sm:pr-3 max-sm:pl-1"
      aria-label={title}
    >
      <div className="grid min-h-13.5 grid-cols-[28px_minmax(0,1fr)_132px_220px_170px] items-center gap-x-2 gap-y-0 max-sm:grid-cols-[36px_minmax(0,1fr)_auto] max-sm:gap-y-0.5">
        <IconButton
          icon="chevron"
          className="[transition:rotate_var(--fast)] not-aria-expanded:-rotate-90 max-sm:[grid-area:1/1]"
          name={`Details of ${title}`}
          aria-expanded={isOpened}
          aria-controls={detailsId}
          onClick={onToggle}
        />
        <div className="max-sm:[grid-area:1/2/2/4]">
          <h3>
            {title}{" "}
            {about !== null && about === library.recommended && (
              <span
                className="ml-2 rounded-sm bg-good-tint px-1.5 text-good [font:600_11px/16px_var(--sans)]"
                title={about.expect}
              >
                Recommended
              </span>
            )}
          </h3>
          <p className="small min-w-0 truncate">
            {[isEmbedded ? "chats" : about && KIND_WORDS[about.kind], isEmbedded ? "comes with the page" : choice.model]
              .filter(Boolean)
              .join(" · ")}
          </p>
        </div>
        <p className="small pr-3 text-right whitespace-nowrap max-sm:hidden">
          {numParameters !== null && `${formatCount(numParameters / 1e6)} M parameters`}
        </p>
        <ModelStatus model={model} running={running} />
        <ModelActions model={model} running={running} />
      </div>
      {error && (
        <ErrorNote
          className="mb-2.5 ml-9"
          error={error}
          more={stored?.status === "partial" ? "What has arrived is kept." : ""}
        />
      )}
      <div id={detailsId} hidden={!isOpened}>
        {isOpened && <ModelDetails library={library} model={model} onAdded={onAdded} />}
      </div>
    </li>
  );
}

interface OfRow {
  readonly model: LibraryModel;
  readonly running: Running;
}

function ModelActions({ model, running }: OfRow) {
  const { engine, library } = useApp();
  const close = useClose();
  const runningDtype = useStore(engine.store, (state) => (state.status === "ready" ? state.engine.model.dtype : null));
  const isSwitching = useStore(library.store, (state) => state.switchingTo !== null);
  const { key, title, about, stored, isEmbedded, isDownloading, dtype } = model;

  const use = async () => {
    if (await library.use(key)) close();
  };
  const isHere = isOnThisComputer(model);
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

const UNKNOWN = { receivedBytes: 0, totalBytes: 0, bytesPerSecond: null, secondsLeft: null, isWaiting: false };

/** A model's state, or the progress of its download. */
function ModelStatus({ model, running }: OfRow) {
  const isOnline = useOnline();
  const { stored, about, choice, isEmbedded, isDownloading, progress, estimate } = model;
  // The bar comes first, as while it is downloaded.
  if (running === "loading") return <StageBar className="small flex flex-col-reverse max-sm:[grid-area:2/2]" />;
  if (running === "running") {
    return (
      <p className="row gap-1.5 font-medium text-good max-sm:[grid-area:2/2]">
        <Icon name="tick" />
        In use
      </p>
    );
  }
  // Else it is paused, or downloading in another tab.
  if (isDownloading || stored?.status === "partial") {
    const { receivedBytes, totalBytes, bytesPerSecond, secondsLeft, isWaiting } = {
      ...UNKNOWN,
      ...stored,
      ...(isDownloading && progress),
    };
    const bytes = formatBytesOf(receivedBytes, totalBytes);
    const words = [
      isDownloading ? bytes : `${bytes} so far`,
      isWaiting && "waiting for the server",
      bytesPerSecond !== null && `${formatBytes(bytesPerSecond)}/s`,
      secondsLeft !== null && formatTimeLeft(secondsLeft * 1000),
    ];
    return (
      <div className="small max-sm:[grid-area:2/2]">
        <progress className="mb-1" value={receivedBytes} max={Math.max(1, totalBytes)} aria-label="Downloaded" />
        <p>
          {totalBytes > 0
            ? words.filter(Boolean).join(", ")
            : isOnline
              ? "Looking for its files…"
              : "Offline: waiting for the network…"}
        </p>
      </div>
    );
  }
  if (stored) return <p className="small max-sm:[grid-area:2/2]">On this computer, {formatBytes(stored.totalBytes)}</p>;
  if (isEmbedded) return <p className="small max-sm:[grid-area:2/2]">On this computer</p>;
  const listedBytes = about?.gguf === choice.model ? about.ggufBytes : about?.downloadBytes;
  const bytes = estimate?.downloadBytes ?? listedBytes ?? null;
  return <p className="small max-sm:[grid-area:2/2]">Not downloaded{bytes !== null && `, ${formatBytes(bytes)}`}</p>;
}

type Running = "no" | "loading" | "running";

/** Returns what the engine does with this model. */
function useRunning(engine: EngineControl, { key }: LibraryModel): Running {
  const isChosen = useStore(engine.chosen, ({ model }) => keyOfChoice(model) === key);
  const status = useStore(engine.store, (state) => state.status);
  if (!isChosen || (status !== "loading" && status !== "ready")) return "no";
  return status === "loading" ? "loading" : "running";
}
