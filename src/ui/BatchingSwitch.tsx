import { useId } from "react";
import type { BatchingModeControl } from "../state/batching-mode.ts";
import { BATCHING_MODES } from "./batching-modes.ts";
import { classNames } from "./class-names.ts";
import { useStore } from "./use-store.ts";
import css from "./BatchingSwitch.module.css";

/** How the engine batches; it changes with its next step. */
export function BatchingSwitch({ mode, className }: { mode: BatchingModeControl; className?: string | undefined }) {
  const chosen = useStore(mode.store, (state) => state);
  const isHeld = useStore(mode.held, (state) => state);
  const name = useId();
  return (
    <div className={classNames(css.switch, className)} role="radiogroup" aria-label="Batching">
      {BATCHING_MODES.map(([value, label, title]) => (
        <label key={value} title={title}>
          <input
            type="radio"
            name={name}
            value={value}
            checked={chosen === value}
            disabled={isHeld}
            onChange={() => mode.choose(value)}
          />
          <span>{label}</span>
        </label>
      ))}
    </div>
  );
}
