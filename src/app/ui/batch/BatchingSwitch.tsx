import { useId } from "react";
import type { BatchingMode } from "../../../index.ts";
import type { AppState } from "../../state/app/app-state.ts";
import { batchingModeOf } from "../../state/engine/engine-control.ts";
import { classNames } from "../class-names.ts";
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
export function BatchingSwitch({ app, className }: { app: AppState; className?: string | undefined }) {
  const { engine, serving } = app;
  const chosen = useStore(engine.chosen, batchingModeOf);
  const isHeld = useStore(engine.chosen, ({ held }) => held.batchingMode !== undefined);
  const name = useId();
  return (
    <div className={classNames(css.choice, className)}>
      <div className={css.switch} role="radiogroup" aria-label="Batching">
        {BATCHING_MODES.map(([value, label, title]) => (
          <label key={value} title={title}>
            <input
              type="radio"
              name={name}
              value={value}
              checked={chosen === value}
              disabled={isHeld}
              onChange={() => serving.set("batchingMode", value)}
            />
            <span>{label}</span>
          </label>
        ))}
      </div>
      <ExplainButton term={chosen} name="batching" />
    </div>
  );
}
