import { Button } from "../components/Button.tsx";
import type { EngineControl } from "../../state/engine/engine-control.ts";
import { useStore } from "../use-store.ts";

/** Loads the model again after the engine died ("Start again") or did not start ("Try again"). */
export function StartAgainButton({ engine, isQuiet = false }: { engine: EngineControl; isQuiet?: boolean }) {
  const isDead = useStore(engine.store, (state) => state.status === "dead");
  return (
    <Button look={isQuiet ? "outlined" : "ink"} onClick={() => void engine.start()}>
      {isDead ? "Start again" : "Try again"}
    </Button>
  );
}
