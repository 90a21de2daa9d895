import { useId } from "react";
import { useStore } from "zustand";
import type { BatchingMode } from "../../../index.ts";
import { modeOf } from "../../state/engine/serving.ts";
import { useApp } from "../app/page-context.ts";
import { ExplainButton } from "../explain/ExplainButton.tsx";

/** Each mode's name and description. */
export const BATCHING_MODES: readonly (readonly [mode: BatchingMode, name: string, words: string])[] = [
  ["continuous", "Continuous", "Questions join and leave the batch at every step"],
  ["static", "Static", "A batch runs to its end before the next begins"],
  ["sequential", "Sequential", "One question after the other"],
];

/** Chooses how the engine batches, from its next step on. */
export function BatchingSwitch() {
  const { serving } = useApp();
  const chosen = useStore(serving.store, modeOf);
  const isLocked = useStore(serving.store, ({ lockedMode }) => lockedMode !== null);
  const name = useId();
  return (
    <div className="row sm:max-[1100px]:gap-1">
      <div className="inline-flex flex-1 gap-0.5 rounded-md bg-surface-3 p-0.5" role="radiogroup" aria-label="Batching">
        {BATCHING_MODES.map(([value, label, title]) => (
          <label key={value} title={title} className="relative flex-1 text-center">
            {/* The native radio stays, for keys and screen readers, under its drawing. */}
            <input
              type="radio"
              className="peer absolute inset-0 size-full cursor-pointer opacity-0"
              name={name}
              value={value}
              checked={chosen === value}
              disabled={isLocked}
              onChange={() => serving.chooseMode(value)}
            />
            <span className="block h-7 rounded-sm px-2.5 text-[13px] leading-7 font-medium text-ink-2 peer-checked:bg-surface peer-checked:text-ink peer-checked:shadow-1 peer-focus-visible:outline-2 peer-focus-visible:outline-offset-2 peer-focus-visible:outline-focus sm:max-[1100px]:px-1.5 sm:max-[1100px]:text-[12px]">
              {label}
            </span>
          </label>
        ))}
      </div>
      <ExplainButton term={chosen} name="batching" />
    </div>
  );
}
