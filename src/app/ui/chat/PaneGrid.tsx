import type { CSSProperties } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { useStore } from "../use-store.ts";
import { ChatPane } from "./ChatPane.tsx";

const MAX_COLUMNS = 4;

/** The panes side by side: 1, 2, 3, 4 columns; from 5 panes on two rows are in view and the grid scrolls. */
export function PaneGrid({ app }: { app: AppState }) {
  const { panes, current } = useStore(app.workspace.store);
  const style = {
    "--columns": Math.min(panes.length, MAX_COLUMNS),
    "--rows": panes.length > MAX_COLUMNS ? "max(240px, calc(50% - 6px))" : "minmax(240px, 1fr)",
  } as CSSProperties;
  return (
    <div
      className="grid min-h-0 auto-rows-(--rows) grid-cols-[repeat(var(--columns),minmax(0,1fr))] gap-3 overflow-auto px-4 pb-3 [grid-area:1/2] max-[1400px]:has-[+nav]:grid-cols-[repeat(min(var(--columns),2),minmax(0,1fr))] max-xl:grid-cols-[repeat(min(var(--columns),2),minmax(0,1fr))] max-sm:block max-sm:overflow-hidden max-sm:px-2 max-sm:pb-2"
      style={style}
    >
      {panes.map((pane, index) => (
        <ChatPane key={pane.number} app={app} pane={pane} isCurrent={pane.number === current} place={index} />
      ))}
    </div>
  );
}
