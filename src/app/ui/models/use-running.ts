import type { EngineControl } from "../../state/engine/engine-control.ts";
import { keyOfChoice } from "../../state/models/model-choice.ts";
import type { ShelfModel } from "../../state/models/model-shelf.ts";
import { useStore } from "../use-store.ts";

/** Returns what the engine does with this model. */
export function useRunning(engine: EngineControl, { key }: ShelfModel): "no" | "loading" | "running" {
  const isChosen = useStore(engine.chosen, ({ model }) => keyOfChoice(model) === key);
  const status = useStore(engine.store, (state) => state.status);
  if (!isChosen || (status !== "loading" && status !== "ready")) return "no";
  return status === "loading" ? "loading" : "running";
}
