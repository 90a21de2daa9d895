import { useStore } from "zustand";
import type { Dock } from "../../state/batch/dock.ts";
import type { Pane } from "../../state/chat/pane.ts";
import type { PaneState } from "../../state/chat/pane-state.ts";
import { MAX_PANES } from "../../state/workspace/saved-workspace.ts";
import type { Workspace } from "../../state/workspace/workspace.ts";
import { ActionButton } from "../actions/ActionButton.tsx";
import { classNames } from "../class-names.ts";
import { Tab, Tabs } from "../components/Tabs.tsx";
import { PaneBadge } from "../components/PaneBadge.tsx";

/** On a phone one pane is in view. These tabs choose it and show the others' states. */
export function PaneSwitcher({ workspace, dock }: { workspace: Workspace; dock: Dock }) {
  const { panes, current } = useStore(workspace.store);
  const isBatch = useStore(dock.store, (state) => state.isInView);
  const select = (pane: Pane) => {
    workspace.select(pane.number);
    dock.show(false);
  };
  const tabs = (
    <>
      {panes.map((pane) => (
        <PaneTab
          key={pane.number}
          pane={pane}
          isCurrent={pane.number === current && !isBatch}
          onSelect={() => select(pane)}
        />
      ))}
      <Tab isChosen={isBatch} onChoose={() => dock.show(true)}>
        Batch
      </Tab>
    </>
  );
  return (
    <Tabs name="Panes" listName="Panes and batch" tabs={tabs}>
      <ActionButton action="pane.new" icon="compose" name="New chat" />
      <ActionButton
        action="pane.add"
        icon="plus"
        name="Add pane"
        disabled={panes.length >= MAX_PANES}
        title={panes.length >= MAX_PANES ? `${MAX_PANES} panes are open: close one first` : "Add a pane"}
      />
    </Tabs>
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
  return (
    <Tab name={`Pane ${pane.number}: ${DOING[phase]}`} isChosen={isCurrent} onChoose={onSelect}>
      <PaneBadge number={pane.number} />
      <span
        className={classNames(
          "size-1.5 rounded-full",
          phase === "streaming" && "bg-ink-3",
          phase !== "idle" && "[box-shadow:inset_0_0_0_1.5px_var(--color-ink-3)]",
        )}
      />
    </Tab>
  );
}
