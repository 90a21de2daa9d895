import { NOTHING_LOADED, type LoadStages } from "../../state/engine/load-stages.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { titleOf } from "../../state/chat/note.ts";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { useStore } from "../use-store.ts";
import css from "./LoadCard.module.css";
import { StageBar } from "../engine/StageBar.tsx";

/** Shows how far the model is loaded, or why it failed. Nothing once it runs. */
export function LoadCard({ engine }: { engine: EngineControl }) {
  const modelLabel = useStore(engine.chosen, ({ model }) => labelOfChoice(model));
  const state = useStore(engine.store);
  if (state.status === "ready") return null;
  if (state.status === "loading") return <Loading modelLabel={modelLabel} stages={state.stages} />;
  return (
    <div className={css.card} role="alert">
      <h3>{state.status === "dead" ? titleOf(state.error) : `${modelLabel} could not be started`}</h3>
      <p className={css.message}>{state.error.message}</p>
      <p className={css.kept}>What you write meanwhile is kept and is sent when the model runs.</p>
      <div className="row wrap">
        <StartAgainButton engine={engine} />
        <CopyDetails error={state.error} />
        <DocsLink page="troubleshooting" at={state.error.code}>
          About this error
        </DocsLink>
      </div>
    </div>
  );
}

/** The place that loading takes, empty. */
export function LoadCardSpace({ engine }: { engine: EngineControl }) {
  const modelLabel = useStore(engine.chosen, ({ model }) => labelOfChoice(model));
  return (
    <div className={css.space} aria-hidden="true">
      <Loading modelLabel={modelLabel} stages={NOTHING_LOADED} />
    </div>
  );
}

function Loading({ modelLabel, stages }: { modelLabel: string; stages: LoadStages }) {
  return (
    <div className={css.card}>
      <h3>Getting {modelLabel} ready</h3>
      <p className={css.advice}>You can write now. Messages wait here and are sent when the model is ready.</p>
      <StageBar stages={stages} className={css.now} />
    </div>
  );
}
