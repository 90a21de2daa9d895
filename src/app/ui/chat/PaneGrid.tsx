import type { CSSProperties } from "react";
import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import { ChatPane } from "./ChatPane.tsx";

const MAX_COLUMNS = 4;

/** The panes side by side: 1, 2, 3, 4 columns; from 5 panes on two rows are in view and the grid scrolls. */
export function PaneGrid() {
  const { panes, current } = useStore(useApp().workspace.store);
  const style = {
    "--columns": Math.min(panes.length, MAX_COLUMNS),
    "--rows": panes.length > MAX_COLUMNS ? "max(240px, calc(50% - 6px))" : "minmax(240px, 1fr)",
  } as CSSProperties;
  return (
    <div className="panes [grid-area:1/2]" style={style}>
      {panes.map((pane, index) => (
        <ChatPane key={pane.number} pane={pane} isCurrent={pane.number === current} place={index} />
      ))}
    </div>
  );
}
