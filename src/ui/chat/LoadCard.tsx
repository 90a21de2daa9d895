import { LOAD_STAGES, type LoadStages } from "../../state/engine/load-stages.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { titleOf } from "../../state/chat/note.ts";
import { classNames } from "../class-names.ts";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { Icon } from "../components/Icon.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { useStore } from "../use-store.ts";
import css from "./LoadCard.module.css";
import { describeStage, STAGE_NAMES } from "../engine/stage-names.ts";

/** Shows the loading stages of the model, or why it failed. Nothing once it runs. */
export function LoadCard({ engine }: { engine: EngineControl }) {
  const modelLabel = useStore(engine.choice, labelOfChoice);
  const state = useStore(engine.store, (current) => current);
  if (state.status === "ready") return null;
  if (state.status === "loading") {
    return (
      <div className={css.card}>
        <h3>Getting {modelLabel} ready</h3>
        <p>You can write now. Messages wait here and are sent when the model is ready.</p>
        <Stages stages={state.stages} />
      </div>
    );
  }
  return (
    <div className={css.card} role="alert">
      <h3>{state.status === "dead" ? titleOf(state.error) : `${modelLabel} could not be started`}</h3>
      <p className={css.message}>{state.error.message}</p>
      <p className={css.kept}>What you write meanwhile is kept and is sent when the model runs.</p>
      <div className={css.actions}>
        <StartAgainButton engine={engine} />
        <CopyDetails error={state.error} />
      </div>
    </div>
  );
}

function Stages({ stages }: { stages: LoadStages }) {
  return (
    <ul className={css.stages}>
      {LOAD_STAGES.map((stage) => {
        const progress = stages[stage];
        return (
          <li key={stage} className={classNames(progress.status === "todo" && css.todo)}>
            {progress.status === "done" ? (
              <Icon name="tick" />
            ) : (
              <i className={classNames(css.ring, progress.status === "now" && css.now)} />
            )}
            {STAGE_NAMES[stage]}
            <span>{describeStage(stage, progress)}</span>
            {progress.status === "now" && progress.total > 1 && (
              <progress value={progress.done} max={progress.total} aria-label={STAGE_NAMES[stage]} />
            )}
          </li>
        );
      })}
    </ul>
  );
}
