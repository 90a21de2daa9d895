import { currentStage } from "../../state/engine/load-stages.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { classNames } from "../class-names.ts";
import { BackendPicker } from "./BackendPicker.tsx";
import { STAGE_NAMES } from "./stage-names.ts";
import { StartAgainButton } from "./StartAgainButton.tsx";
import { useOnline } from "../use-media.ts";
import { useStore } from "../use-store.ts";
import css from "./EngineStatus.module.css";

/** Shows where the model runs, or why it doesn't, with a button to restart it. */
export function EngineStatus({ engine }: { engine: EngineControl }) {
  const state = useStore(engine.store);
  const isOnline = useOnline();
  switch (state.status) {
    case "ready":
      return (
        <div className={css.status}>
          <span className={css.dot} />
          <BackendPicker engine={engine} model={state.engine.model} />
          {state.engine.model.backend === "cpu" && mayHaveMoreThreads() && (
            <b title="This page can use one thread only. Reload it once it is kept for offline use: then its threads can share memory.">
              Reload for more threads
            </b>
          )}
          {!isOnline && <b title="Everything works without network: the model runs in this page">Offline</b>}
        </div>
      );
    case "loading":
      return (
        <p className={css.status} title={STAGE_NAMES[currentStage(state.stages)]}>
          <span className={classNames(css.dot, css.ring)} />
          <span className="cut">Getting ready</span>
        </p>
      );
    case "failed":
    case "dead":
    case "unsupported":
      return (
        <div className={classNames(css.status, css.always)}>
          <span className={classNames(css.dot, css.dead)} />
          <span className={css.word}>Not running</span>
          <StartAgainButton engine={engine} isQuiet />
        </div>
      );
  }
}

/** Returns whether a reload may give more threads: they need a spare core and an isolated page, by the service worker. */
function mayHaveMoreThreads(): boolean {
  return !crossOriginIsolated && navigator.hardwareConcurrency > 2;
}
