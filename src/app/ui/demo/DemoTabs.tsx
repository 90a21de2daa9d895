import type { KeyboardEvent } from "react";
import type { Dock } from "../../state/batch/dock.ts";
import { useStore } from "../use-store.ts";

/** On a phone, tabs that switch between the demo's answers and the batch. */
export function DemoTabs({ dock }: { dock: Dock }) {
  const isBatch = useStore(dock.store, (state) => state.isInView);
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key !== "ArrowRight" && event.key !== "ArrowLeft") return;
    event.preventDefault();
    dock.show(!isBatch);
    event.currentTarget.querySelector<HTMLElement>(`[role="tab"][aria-selected="false"]`)?.focus();
  };
  return (
    <nav className="tabs" aria-label="Demo">
      <div role="tablist" aria-label="Answers and batch" onKeyDown={onKeyDown} tabIndex={-1}>
        {(["Answers", "Batch"] as const).map((name) => {
          const isChosen = isBatch === (name === "Batch");
          return (
            <button
              key={name}
              type="button"
              role="tab"
              className="tab"
              aria-selected={isChosen}
              tabIndex={isChosen ? 0 : -1}
              onClick={() => dock.show(name === "Batch")}
            >
              {name}
            </button>
          );
        })}
      </div>
    </nav>
  );
}
