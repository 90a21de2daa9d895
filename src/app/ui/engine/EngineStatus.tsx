import { useStore } from "zustand";
import { currentStage } from "../../state/engine/load-stages.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { classNames } from "../class-names.ts";
import { BackendPicker } from "./BackendPicker.tsx";
import { STAGE_NAMES } from "./StageBar.tsx";
import { StartAgainButton } from "./StartAgainButton.tsx";
import { useOnline } from "../use-media.ts";

const STATUS = "flex h-5 items-center gap-1.5 whitespace-nowrap border-line-strong t-12 text-ink-2";

const REMARK = "overflow-hidden rounded-sm bg-surface-3 px-1.5 text-ellipsis";

/** Shows where the model runs, or why it doesn't, with a button to restart it. */
export function EngineStatus({ engine }: { engine: EngineControl }) {
  const state = useStore(engine.store);
  const isOnline = useOnline();
  switch (state.status) {
    case "ready":
      return (
        <div className={classNames(STATUS, "min-w-auto flex-[0_1000_auto] border-l pl-3 max-lg:hidden")}>
          <span className="size-2 flex-none rounded-full bg-good" />
          <BackendPicker engine={engine} model={state.engine.model} />
          {state.engine.model.backend === "cpu" && mayHaveMoreThreads() && (
            <b
              className={REMARK}
              title="This page can use one thread only. Reload it once it is kept for offline use: then its threads can share memory."
            >
              Reload for more threads
            </b>
          )}
          {!isOnline && (
            <b className={REMARK} title="Everything works without network: the model runs in this page">
              Offline
            </b>
          )}
        </div>
      );
    case "loading":
      return (
        <p
          className={classNames(STATUS, "min-w-0 flex-[0_1000_auto] border-l pl-3 max-lg:hidden")}
          title={STAGE_NAMES[currentStage(state.stages)]}
        >
          <span className="size-2 flex-none rounded-full [box-shadow:inset_0_0_0_1.5px_var(--color-control)]" />
          <span className="min-w-0 truncate">Getting ready</span>
        </p>
      );
    case "failed":
    case "dead":
    case "unsupported":
      return (
        // It must be readable and pressable, so the model's name shrinks; the others shrink before the name does.
        <div className={classNames(STATUS, "flex-none border-l pl-3 max-sm:border-0 max-sm:p-0")}>
          <span className="size-2 flex-none rounded-full bg-bad max-sm:hidden" />
          <span className="mr-0.5 max-[1600px]:sr-only">Not running</span>
          <StartAgainButton isQuiet />
        </div>
      );
  }
}

/** Returns whether a reload may give more threads: they need a spare core and an isolated page, by the service worker. */
function mayHaveMoreThreads(): boolean {
  return !crossOriginIsolated && navigator.hardwareConcurrency > 2;
}
