import { currentStage, type LoadStages } from "../../state/engine/load-stages.ts";
import { describeStage, STAGE_NAMES } from "./stage-names.ts";

interface StageBarProps {
  readonly stages: LoadStages;
  readonly className?: string | undefined;
  /** Whether the stage's name stands beside its figures. */
  readonly isNamed?: boolean;
}

/** The stage at which loading is, and a bar of how far it is. */
export function StageBar({ stages, className, isNamed = true }: StageBarProps) {
  const stage = currentStage(stages);
  const { done, total } = stages[stage];
  return (
    <div className={className}>
      <p className="cut">
        {isNamed && STAGE_NAMES[stage]} {describeStage(stage, stages[stage])}
      </p>
      <progress value={done} max={Math.max(1, total)} aria-label={STAGE_NAMES[stage]} />
    </div>
  );
}
