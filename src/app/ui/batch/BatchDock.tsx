import { useEffect, useRef, type CSSProperties } from "react";
import type { Batch } from "../../state/batch/batch.ts";
import { BatchingSwitch } from "./BatchingSwitch.tsx";
import { menuItems } from "../actions/actions.ts";
import { usePage } from "../app/page-context.ts";
import { Icon } from "../components/Icon.tsx";
import { IconButton } from "../components/IconButton.tsx";
import { classNames } from "../class-names.ts";
import { lazily } from "../components/Lazily.tsx";
import { Menu } from "../components/Menu.tsx";
import type { PaneLinks } from "../chat/pane-links.ts";
import { PHONE, useMedia } from "../use-media.ts";
import { useStore } from "../use-store.ts";
import { AlertLine } from "./AlertLine.tsx";
import { BatchCounters } from "./BatchCounters.tsx";
import { BatchLine } from "./BatchLine.tsx";
import type { TokenLookup } from "./cell-facts.ts";
import { dockBodyClass } from "./dock-body-class.ts";
import { DockHandle } from "./DockHandle.tsx";

// The page is shown before they have loaded: their room is reserved, and they are empty at first.
const loadPanels = async () => (await import("./DockPanels.tsx")).DockPanels;
const DockPanels = lazily(loadPanels);

const MORE = [
  ...(["page.serving", "page.bench", "page.player"] as const),
  ...(["batch.play", "batch.recording", "batch.kernels", "batch.metrics"] as const),
];

interface BatchDockProps {
  batch: Batch;
  /** Open panes: each may get a row. */
  numPanes: number;
  linkTo: PaneLinks;
  tokenOf: TokenLookup;
}

/** The batch: its modes and counters, and below them timeline, charts and cache map. Closed it is one line. */
export function BatchDock({ batch, numPanes, linkTo, tokenOf }: BatchDockProps) {
  const page = usePage();
  const { dock } = batch;
  const { isOpen, isPaused, heightPx } = useStore(dock.store);
  const isPhone = useMedia(PHONE);
  const body = useRef<HTMLDivElement>(null);
  // A key that goes to one of them may open a folded dock.
  useEffect(() => {
    void loadPanels().catch(() => undefined);
  }, []);
  const hasBody = isOpen || isPhone;
  return (
    <section className="dock max-sm:min-h-0 max-sm:flex-1 max-sm:overflow-auto" aria-label="Batch">
      {hasBody && !isPhone && <DockHandle dock={dock} body={body} />}
      <div className={classNames("dock-head", hasBody && "border-b border-line")}>
        <h2 className="t-13 font-semibold text-ink max-sm:sr-only">
          {isPhone ? (
            "Batch"
          ) : (
            <button
              type="button"
              className="bare row gap-1"
              aria-expanded={isOpen}
              aria-label={isOpen ? "Collapse Batch" : "Expand Batch: who shares each step"}
              onClick={() => dock.toggle()}
            >
              <Icon name="chevron" className={isOpen ? undefined : "-rotate-90"} />
              {isOpen ? "Batch" : "Who shares each step"}
            </button>
          )}
        </h2>
        {hasBody ? (
          <>
            <BatchingSwitch batch={batch} />
            <BatchCounters metrics={batch.metrics} batch={batch} />
          </>
        ) : (
          <BatchLine metrics={batch.metrics} />
        )}
        <AlertLine alerts={batch.alerts} />
        {hasBody && (
          <div className="row justify-between gap-1">
            <Menu name="More" look="quiet" items={() => menuItems(MORE, page)} />
            <IconButton
              icon={isPaused ? "play" : "pause"}
              name="Pause the timeline"
              aria-pressed={isPaused}
              title={isPaused ? "Resume the timeline" : "Pause the timeline; the engine keeps running"}
              onClick={() => dock.togglePause()}
            />
          </div>
        )}
      </div>
      {hasBody && (
        <div
          ref={body}
          className={dockBodyClass(numPanes)}
          style={heightPx === null ? undefined : ({ "--dock-h": `${heightPx}px` } as CSSProperties)}
        >
          <DockPanels batch={batch} linkTo={linkTo} tokenOf={tokenOf} />
        </div>
      )}
    </section>
  );
}
