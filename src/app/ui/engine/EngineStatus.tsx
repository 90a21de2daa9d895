import { useStore } from "zustand";
import { currentStage } from "../../state/engine/load-stages.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { classNames } from "../class-names.ts";
import { STAGE_NAMES } from "./StageBar.tsx";
import { StartAgainButton } from "./StartAgainButton.tsx";
import { useOnline } from "../use-media.ts";
import { BACKEND_CHOICES, type BackendChoice, type ModelCard } from "../../../index.ts";

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

export const BACKEND_NAMES: Readonly<Record<BackendChoice, string>> = {
  auto: "Automatic",
  webgpu: "GPU",
  cpu: "CPU",
};

/** Shows the backend, and changes it: the model is loaded again, and the chats stay. */
function BackendPicker({ engine, model }: { engine: EngineControl; model: ModelCard }) {
  const chosen = useStore(engine.chosen, (choice) => choice.backend);
  const isMissing = useStore(engine.withoutGpu, (error) => error !== null);
  const whyNot = !("gpu" in navigator) ? "not in this browser" : isMissing ? "none found" : null;
  const choose = (name: string) => {
    const backend = BACKEND_CHOICES.find((choice) => choice === name);
    if (backend) void engine.useBackend(backend);
  };
  return (
    <span
      className="relative flex max-w-[20ch] flex-none items-center rounded-sm hover:text-ink has-[select:focus-visible]:outline-2 has-[select:focus-visible]:outline-offset-2 has-[select:focus-visible]:outline-focus"
      title={`The model runs on: ${model.adapter}${model.notice === null ? "" : `. ${model.notice}`}`}
    >
      <span className="min-w-0 truncate">{model.adapter}</span>
      {/* It lies invisibly over the name: one press opens it. */}
      <select
        className="absolute -inset-x-1 -inset-y-0.5 h-auto cursor-pointer opacity-0"
        aria-label="Runs on"
        value={chosen}
        onChange={({ target }) => choose(target.value)}
      >
        {BACKEND_CHOICES.map((choice) => (
          <option key={choice} value={choice} disabled={choice === "webgpu" && whyNot !== null}>
            {BACKEND_NAMES[choice]}
            {choice === "webgpu" && whyNot && ` (${whyNot})`}
          </option>
        ))}
      </select>
    </span>
  );
}
