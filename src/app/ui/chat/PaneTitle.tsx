import { useState, type KeyboardEvent } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import { titleOfChat } from "../../state/workspace/saved-workspace.ts";
import { selectOnShow } from "../on-show.ts";
import { useStore } from "../use-store.ts";

interface PaneTitleProps {
  pane: Pane;
  isRenaming: boolean;
  onRename: () => void;
  onDone: () => void;
}

/** The chat's title: its first question, or the name a person gave it. A double click or the menu changes it. */
export function PaneTitle({ pane, isRenaming, onRename, onDone }: PaneTitleProps) {
  const title = useStore(pane.store, titleOfChat);
  if (isRenaming) return <TitleBox pane={pane} title={title} onDone={onDone} />;
  return (
    // The same as "Rename" in the menu.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <h2 className="title min-w-0 flex-1 truncate tracking-[-0.005em]" dir="auto" title={title} onDoubleClick={onRename}>
      {title}
    </h2>
  );
}

function TitleBox({ pane, title, onDone }: { pane: Pane; title: string; onDone: () => void }) {
  const [typed, setTyped] = useState(title);

  const keep = () => {
    if (typed !== title) pane.rename(typed);
    onDone();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === "Enter") keep();
    if (event.key !== "Escape") return;
    event.stopPropagation(); // else it would stop the pane's answer too
    onDone();
  };
  return (
    <input
      ref={selectOnShow}
      className="-ml-1.5 h-7 flex-1 px-1.25 t-14 font-semibold"
      dir="auto"
      aria-label="Name of the chat"
      value={typed}
      onChange={(event) => setTyped(event.target.value)}
      onKeyDown={onKeyDown}
      onBlur={keep}
    />
  );
}
