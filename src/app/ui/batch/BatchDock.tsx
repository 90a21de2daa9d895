import { useEffect, useRef, type CSSProperties } from "react";
import { useStore } from "zustand";
import { BatchingSwitch } from "./BatchingSwitch.tsx";
import { menuItems } from "../actions/actions.ts";
import { usePage } from "../app/page-context.ts";
import { Icon, IconButton } from "../components/Button.tsx";
import { classNames } from "../class-names.ts";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { Menu } from "../components/Menu.tsx";
import type { BatchView } from "../chat/pane-links.ts";
import { PHONE, useMedia } from "../use-media.ts";
import { BatchCounters } from "./BatchCounters.tsx";
import { DockHandle } from "./DockHandle.tsx";
import { alertWords, type BatchAlerts } from "../../state/batch/batch-alerts.ts";
import type { BatchMetrics } from "../../state/batch/batch-metrics.ts";
import { formatCounted, formatRate } from "../format.ts";

// The page is shown before they have loaded: their room is reserved, and they are empty at first.
const loadPanels = async () => (await import("./DockPanels.tsx")).DockPanels;
const DockPanels = lazyComponent(loadPanels);

const MORE = [
  ...(["page.serving", "page.bench", "page.player"] as const),
  ...(["batch.play", "batch.recording", "batch.kernels", "batch.metrics"] as const),
];

/** The batch: its modes and counters, and below them timeline, charts and cache map. Closed it is one line. */
export function BatchDock({ batch, numPanes, linkTo, tokenOf }: BatchView & { numPanes: number }) {
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
            <BatchingSwitch />
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

/** As wide as its text, over two lines if that is long: the counters keep the rest. On a phone it is always there: nothing below moves. */
const LINE = "row small max-w-47 gap-1.5 px-2 max-md:max-w-39 max-sm:h-6 max-sm:max-w-full max-sm:p-0";

/** A line about the batch's alerts. Screen readers read each in full. */
function AlertLine({ alerts }: { alerts: BatchAlerts }) {
  const raised = useStore(alerts.store);
  const [newest] = raised;
  if (newest === undefined) return <p className={LINE}>No alerts</p>;
  const words = alertWords(newest);
  const all = raised.map(({ message }) => message).join(" ");
  return (
    <p className={classNames(LINE, "text-warn")} title={all}>
      <Icon name="warn" />
      <span aria-hidden="true" className="line-clamp-2 leading-3.75 text-balance whitespace-normal max-sm:line-clamp-1">
        {raised.length > 1 ? `${words}, and ${raised.length - 1} more` : words}
      </span>
      <span className="sr-only">Alerts: {all}</span>
    </p>
  );
}

/** What the closed dock says: how many share each step, and how fast that is. */
function BatchLine({ metrics }: { metrics: BatchMetrics }) {
  const { running, tokensPerSecond } = useStore(metrics.store);
  return (
    <p className="min-h-0 min-w-0 flex-1 truncate">
      {running > 0 && `${formatCounted(running, "answer")}, ${formatRate(tokensPerSecond)} tokens/s in all`}
    </p>
  );
}

/** Rows of the timeline that fit into the lower dock. */
const MAX_LOW_ROWS = 12;
const BODY =
  "grid h-[min(var(--dock-h,var(--dock-room)),70dvh)] [grid-template:minmax(0,1fr)/minmax(0,1fr)_424px_312px] max-xl:grid-cols-[minmax(0,1fr)_380px] max-sm:block max-sm:h-auto";
const HIGH = "[--dock-room:clamp(308px,33dvh,360px)]";
/** Opened by hand on a short window it leaves the chats some room. */
const LOW =
  "[--dock-room:clamp(268px,33dvh,360px)] max-xl:[--dock-room:228px] sm:[@media(max-height:599px)]:h-[min(var(--dock-h,228px),45dvh)]";

/** Returns the classes of the dock's body, which is higher for many rows. @param numRows most rows to expect */
export function dockBodyClass(numRows: number): string {
  return classNames(BODY, numRows > MAX_LOW_ROWS ? HIGH : LOW);
}
