import { useEffect, useRef, type KeyboardEvent } from "react";
import type { Dock } from "../../state/batch/dock.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { PaneState } from "../../state/chat/pane-state.ts";
import { MAX_PANES, type Workspace } from "../../state/workspace/workspace.ts";
import { ActionButton } from "../actions/ActionButton.tsx";
import { classNames } from "../class-names.ts";
import { useStore } from "../use-store.ts";
import { VoiceBadge } from "../components/VoiceBadge.tsx";

/** On a phone one pane is in view. These tabs choose it and show the others' states. */
export function PaneSwitcher({ workspace, dock }: { workspace: Workspace; dock: Dock }) {
  const { panes, current } = useStore(workspace.store);
  const isBatch = useStore(dock.store, (state) => state.isInView);

  const select = (tab: number | "batch") => {
    if (tab !== "batch") workspace.select(tab);
    dock.show(tab === "batch");
  };
  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const tabs = [...panes.map((pane) => pane.number), "batch" as const];
    const next =
      step === undefined ? undefined : tabs.at((tabs.indexOf(isBatch ? "batch" : current) + step) % tabs.length);
    if (next === undefined) return;
    event.preventDefault(); // else the arrow would scroll the tabs too
    select(next);
    event.currentTarget.querySelector<HTMLElement>(`[data-tab="${next}"]`)?.focus();
  };
  return (
    <nav className="tabs" aria-label="Panes">
      <div role="tablist" aria-label="Panes and batch" onKeyDown={onKeyDown} tabIndex={-1}>
        {panes.map((pane) => (
          <PaneTab
            key={pane.number}
            pane={pane}
            isCurrent={pane.number === current && !isBatch}
            onSelect={() => select(pane.number)}
          />
        ))}
        <button
          type="button"
          role="tab"
          className="tab"
          data-tab="batch"
          aria-selected={isBatch}
          tabIndex={isBatch ? 0 : -1}
          onClick={() => select("batch")}
        >
          Batch
        </button>
      </div>
      <ActionButton action="pane.new" icon="compose" name="New chat" />
      <ActionButton
        action="pane.add"
        icon="plus"
        name="Add pane"
        disabled={panes.length >= MAX_PANES}
        title={panes.length >= MAX_PANES ? `${MAX_PANES} panes are open: close one first` : "Add a pane"}
      />
    </nav>
  );
}

const DOING: Record<PaneState["phase"], string> = {
  idle: "idle",
  held: "waiting",
  queued: "queued",
  streaming: "streaming",
  calling: "running tools",
};

function PaneTab({ pane, isCurrent, onSelect }: { pane: Pane; isCurrent: boolean; onSelect: () => void }) {
  const phase = useStore(pane.store, (state) => state.phase);
  const tab = useRef<HTMLButtonElement>(null);
  // Sixteen tabs are wider than a phone.
  useEffect(() => {
    if (isCurrent) tab.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [isCurrent]);
  return (
    <button
      ref={tab}
      type="button"
      role="tab"
      className="tab"
      data-tab={pane.number}
      aria-selected={isCurrent}
      aria-label={`Pane ${pane.number}: ${DOING[phase]}`}
      tabIndex={isCurrent ? 0 : -1}
      onClick={onSelect}
    >
      <VoiceBadge number={pane.number} />
      <span
        className={classNames(
          "size-1.5 rounded-full",
          phase === "streaming" && "bg-ink-3",
          phase !== "idle" && "[box-shadow:inset_0_0_0_1.5px_var(--ink-3)]",
        )}
      />
    </button>
  );
}
