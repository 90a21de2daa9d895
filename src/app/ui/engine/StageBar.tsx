import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { currentStage, shareLoaded, type LoadStages, type StageProgress } from "../../state/engine/load-stages.ts";
import { classNames } from "../class-names.ts";
import type { LoadStage } from "../../../index.ts";
import { formatBytes, formatBytesOf, formatCount, formatTimeLeft } from "../format.ts";

/**
 * How far loading is, as one bar, with what a download has left, or waits for. Whoever points at it, or focuses it, is told the stage.
 * @param stages [those of the engine, if it is loading]
 */
export function StageBar({ stages: given, className }: { stages?: LoadStages; className?: string }) {
  const { store } = useApp().engine;
  const stages = useStore(store, (state) => given ?? (state.status === "loading" ? state.stages : null));
  if (stages === null) return null;
  const stage = currentStage(stages);
  const words = describeStage(stage, stages[stage]);
  const isForAll = stage === "weights" || stages[stage].isWaiting;
  return (
    <div className={classNames("stages", className)}>
      <progress
        value={shareLoaded(stages)}
        aria-label="Getting ready"
        aria-valuetext={`${STAGE_NAMES[stage]} ${words}`}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- the stage shows for keys, too
        tabIndex={0}
      />
      <p className="my-1 h-4 truncate">
        {isForAll && words}{" "}
        <span className="[.stages:not(:hover,:focus-within)_&]:invisible">
          {STAGE_NAMES[stage]} {!isForAll && words}
        </span>
      </p>
    </div>
  );
}

export const STAGE_NAMES: Record<LoadStage, string> = {
  adapter: "Processor",
  tokenizer: "Tokenizer",
  weights: "Weights",
  memory: "Memory",
  kernels: "Kernels",
  cache: "Cache blocks",
};

const WAITING = "waiting for the server";

/** Returns a stage's progress or result. Files and memory count bytes, other stages items. */
function describeStage(stage: LoadStage, progress: StageProgress): string {
  const { status, done, total, detail, msLeft, isWaiting } = progress;
  if (status === "todo") return "";
  const isBytes = stage === "tokenizer" || stage === "weights" || stage === "memory";
  if (status === "done") return detail ?? (isBytes ? formatBytes(total) : formatCount(total));
  if (total === 0) return isWaiting ? WAITING : (detail ?? "");
  const amount = isBytes ? formatBytesOf(done, total) : `${formatCount(done)} of ${formatCount(total)}`;
  if (isWaiting) return `${amount}, ${WAITING}`;
  return msLeft === null ? amount : `${amount}, ${formatTimeLeft(msLeft)}`;
}
