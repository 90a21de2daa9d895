import { useStore } from "zustand";
import { BACKEND_CHOICES, type BackendChoice, type ModelCard } from "../../../index.ts";
import type { EngineControl } from "../../state/engine/engine-control.ts";

export const BACKEND_NAMES: Readonly<Record<BackendChoice, string>> = {
  auto: "Automatic",
  webgpu: "GPU",
  cpu: "CPU",
};

/** Shows the backend, and changes it: the model is loaded again, and the chats stay. */
export function BackendPicker({ engine, model }: { engine: EngineControl; model: ModelCard }) {
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
