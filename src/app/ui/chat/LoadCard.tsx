import { useStore } from "zustand";
import { NOTHING_LOADED, type LoadStages } from "../../state/engine/load-stages.ts";
import { labelOfChoice } from "../../state/models/model-choice.ts";
import { titleOf } from "../../state/chat/note.ts";
import { useApp } from "../app/page-context.ts";
import { CopyDetails } from "../components/CopyDetails.tsx";
import { DocsLink } from "../components/DocsLink.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";
import { StageBar } from "../engine/StageBar.tsx";

/** Shows how far the model is loaded, or why it failed. Nothing once it runs. */
export function LoadCard() {
  const { engine } = useApp();
  const modelLabel = useStore(engine.chosen, ({ model }) => labelOfChoice(model));
  const state = useStore(engine.store);
  if (state.status === "ready") return null;
  if (state.status === "loading") return <Loading modelLabel={modelLabel} stages={state.stages} />;
  return (
    <div role="alert">
      <h3 className="mb-1 t-18 tracking-[-0.01em] text-balance">
        {state.status === "dead" ? titleOf(state.error) : `${modelLabel} could not be started`}
      </h3>
      <p className="max-h-[40vh] overflow-y-auto t-14 text-pretty whitespace-pre-line text-ink-2">
        {state.error.message}
      </p>
      <p className="mt-2 mb-4 t-14 text-pretty text-ink-2">
        What you write meanwhile is kept and is sent when the model runs.
      </p>
      <div className="row flex-wrap">
        <StartAgainButton />
        <CopyDetails error={state.error} />
        <DocsLink page="troubleshooting" at={state.error.code}>
          About this error
        </DocsLink>
      </div>
    </div>
  );
}

/** The place that loading takes, empty. */
export function LoadCardSpace() {
  const modelLabel = useStore(useApp().engine.chosen, ({ model }) => labelOfChoice(model));
  return (
    <div className="invisible" aria-hidden="true">
      <Loading modelLabel={modelLabel} stages={NOTHING_LOADED} />
    </div>
  );
}

function Loading({ modelLabel, stages }: { modelLabel: string; stages: LoadStages }) {
  return (
    <div>
      <h3 className="mb-1 t-18 tracking-[-0.01em] text-balance">Getting {modelLabel} ready</h3>
      <p className="t-14 text-pretty text-ink-2 short:hidden">
        You can write now. Messages wait here and are sent when the model is ready.
      </p>
      <StageBar stages={stages} className="small mt-3" />
    </div>
  );
}
