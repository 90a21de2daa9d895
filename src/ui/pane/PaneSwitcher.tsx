import { useEffect, useRef, type KeyboardEvent } from "react";
import type { Pane, PaneState } from "../../state/pane.ts";
import { MAX_PANES, type Workspace } from "../../state/workspace.ts";
import { Button } from "../Button.tsx";
import { classNames } from "../class-names.ts";
import { Icon } from "../Icon.tsx";
import { useStore } from "../use-store.ts";
import { VoiceBadge } from "../VoiceBadge.tsx";
import css from "./PaneSwitcher.module.css";

/** On a phone one pane is in view; these tabs say which, and what the others are doing. */
export function PaneSwitcher({ workspace }: { workspace: Workspace }) {
  const { panes, current } = useStore(workspace.store, (state) => state);

  const onKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    const at = panes.findIndex((pane) => pane.number === current);
    const next = step === undefined ? undefined : panes.at((at + step) % panes.length);
    if (next === undefined) return;
    event.preventDefault(); // the arrow would scroll the tabs, too
    workspace.select(next.number);
    event.currentTarget.querySelector<HTMLElement>(`[data-pane="${next.number}"]`)?.focus();
  };
  return (
    <nav className={css.switcher} aria-label="Panes">
      <div className={css.tabs} role="tablist" aria-label="Panes" onKeyDown={onKeyDown} tabIndex={-1}>
        {panes.map((pane) => (
          <PaneTab key={pane.number} pane={pane} isCurrent={pane.number === current} workspace={workspace} />
        ))}
      </div>
      <Button
        look="icon"
        aria-label="Add pane"
        disabled={panes.length >= MAX_PANES}
        onClick={() => workspace.addPane()}
      >
        <Icon name="plus" />
      </Button>
    </nav>
  );
}

const DOING: Record<PaneState["phase"], string> = {
  idle: "idle",
  held: "waiting",
  queued: "queued",
  streaming: "streaming",
};

function PaneTab({ pane, isCurrent, workspace }: { pane: Pane; isCurrent: boolean; workspace: Workspace }) {
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
      className={css.tab}
      data-pane={pane.number}
      aria-selected={isCurrent}
      aria-label={`Pane ${pane.number}: ${DOING[phase]}`}
      tabIndex={isCurrent ? 0 : -1}
      onClick={() => workspace.select(pane.number)}
    >
      <VoiceBadge number={pane.number} />
      <span className={classNames(css.mark, phase === "streaming" && css.dot, phase !== "idle" && css.ring)} />
    </button>
  );
}
