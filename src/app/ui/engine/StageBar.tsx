import { currentStage, shareLoaded, type LoadStages } from "../../state/engine/load-stages.ts";
import { classNames } from "../class-names.ts";
import { describeStage, STAGE_NAMES } from "./stage-names.ts";

interface StageBarProps {
  readonly stages: LoadStages;
  readonly className?: string | undefined;
}

/** How far loading is, as one bar, with what a download has left, or waits for. Whoever points at it, or focuses it, is told the stage. */
export function StageBar({ stages, className }: StageBarProps) {
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
