import type { EngineControl } from "../../state/engine/engine-control.ts";
import { Callout } from "../components/Callout.tsx";
import { useStore } from "../use-store.ts";
import { StageBar } from "../engine/StageBar.tsx";

/** Shows the loading progress in a pane whose question waits for the model. */
export function LoadingNote({ engine, className }: { engine: EngineControl; className: string | undefined }) {
  const stages = useStore(engine.store, (state) => (state.status === "loading" ? state.stages : null));
  if (stages === null) return null;
  return (
    <Callout tone="info" title="Sent when the model is ready" className={className}>
      <StageBar stages={stages} />
    </Callout>
  );
}
