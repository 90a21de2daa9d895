import type { EngineControl } from "../../state/engine/engine-control.ts";
import { currentStage } from "../../state/engine/load-stages.ts";
import { useStore } from "../use-store.ts";
import { describeStage, STAGE_NAMES } from "../engine/stage-names.ts";

/** Shows the loading progress in a pane whose question waits for the model. */
export function LoadingNote({ engine, className }: { engine: EngineControl; className: string }) {
  const stages = useStore(engine.store, (state) => (state.status === "loading" ? state.stages : null));
  if (stages === null) return null;
  const stage = currentStage(stages);
  const progress = stages[stage];
  return (
    <div className={className}>
      <h3>Sent when the model is ready</h3>
      <p>
        {STAGE_NAMES[stage]} {describeStage(stage, progress)}
      </p>
      <progress
        style={{ marginTop: 8 }}
        value={progress.done}
        max={Math.max(1, progress.total)}
        aria-label={STAGE_NAMES[stage]}
      />
    </div>
  );
}
