import { useId } from "react";
import type { BatchingMode } from "../../../index.ts";
import type { Batch } from "../../state/batch/batch.ts";
import { useStore } from "../use-store.ts";
import { ExplainButton } from "../explain/ExplainButton.tsx";
import css from "./BatchingSwitch.module.css";

/** Each mode's name and description. */
export const BATCHING_MODES: readonly (readonly [mode: BatchingMode, name: string, words: string])[] = [
  ["continuous", "Continuous", "Questions join and leave the batch at every step"],
  ["static", "Static", "A batch runs to its end before the next begins"],
  ["sequential", "Sequential", "One question after the other"],
];

/** Chooses how the engine batches, from its next step on. */
export function BatchingSwitch({ batch }: { batch: Batch }) {
  const { mode } = batch;
  const chosen = useStore(mode.store);
  const isHeld = useStore(mode.held);
  const name = useId();
  return (
    <div className={css.choice}>
      <div className={css.switch} role="radiogroup" aria-label="Batching">
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
      <ExplainButton term={chosen} name="batching" />
    </div>
  );
}
