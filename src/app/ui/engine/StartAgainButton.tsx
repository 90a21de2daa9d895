import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { Button } from "../components/Button.tsx";

/** Loads the model again after the engine died ("Start again") or did not start ("Try again"). */
export function StartAgainButton({ isQuiet = false }: { isQuiet?: boolean }) {
  const { engine } = useApp();
  const isDead = useStore(engine.store, (state) => state.status === "dead");
  return (
    <Button look={isQuiet ? "outlined" : "ink"} onClick={() => void engine.start()}>
      {isDead ? "Start again" : "Try again"}
    </Button>
  );
}
