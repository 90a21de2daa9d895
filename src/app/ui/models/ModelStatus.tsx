import { useStore } from "zustand";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import type { LibraryModel } from "../../state/models/model-library.ts";
import { formatBytes, formatBytesOf, formatTimeLeft } from "../format.ts";
import { Icon } from "../components/Button.tsx";
import { StageBar } from "../engine/StageBar.tsx";
import { useOnline } from "../use-media.ts";
import { keyOfChoice } from "../../state/models/model-choice.ts";

const UNKNOWN = { receivedBytes: 0, totalBytes: 0, bytesPerSecond: null, secondsLeft: null, isWaiting: false };

/** A model's state, or the progress of its download. */
export function ModelStatus({ engine, model }: { engine: EngineControl; model: LibraryModel }) {
  const running = useRunning(engine, model);
  const isOnline = useOnline();
  const { stored, about, choice, isEmbedded, isDownloading, progress, estimate } = model;
  if (running === "loading") return <Loading engine={engine} />;
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

function Loading({ engine }: { engine: EngineControl }) {
  const stages = useStore(engine.store, (state) => (state.status === "loading" ? state.stages : null));
  // The bar comes first, as while it is downloaded.
  return stages && <StageBar stages={stages} className="small flex flex-col-reverse max-sm:[grid-area:2/2]" />;
}

/** Returns what the engine does with this model. */
export function useRunning(engine: EngineControl, { key }: LibraryModel): "no" | "loading" | "running" {
  const isChosen = useStore(engine.chosen, ({ model }) => keyOfChoice(model) === key);
  const status = useStore(engine.store, (state) => state.status);
  if (!isChosen || (status !== "loading" && status !== "ready")) return "no";
  return status === "loading" ? "loading" : "running";
}
