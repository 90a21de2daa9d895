import type { CSSProperties, MouseEvent } from "react";
import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { classNames } from "../class-names.ts";
import { Guard } from "../components/Guard.tsx";
import { isOutlined, paneColorStyle } from "../pane-color.ts";
import { Composer, focusMessageOf } from "./Composer.tsx";
import { Conversation } from "./Conversation.tsx";
import { usePaneDrop } from "./pane-drag.ts";
import { PaneHead } from "./PaneHead.tsx";
import { Callout } from "../components/Callout.tsx";
import { StageBar } from "../engine/StageBar.tsx";
import { StartAgainButton } from "../engine/StartAgainButton.tsx";

const MAX_COLUMNS = 4;

/** The panes side by side: 1, 2, 3, 4 columns; from 5 panes on two rows are in view and the grid scrolls. */
export function PaneGrid() {
  const { panes, current } = useStore(useApp().workspace.store);
  const style = {
    "--columns": Math.min(panes.length, MAX_COLUMNS),
    "--rows": panes.length > MAX_COLUMNS ? "max(240px, calc(50% - 6px))" : "minmax(240px, 1fr)",
  } as CSSProperties;
  return (
    // Two columns where the window or the list of chats leaves little room, and on a phone one pane is in view.
    <div
      className="grid min-h-0 auto-rows-(--rows) grid-cols-[repeat(var(--columns),minmax(0,1fr))] gap-3 overflow-auto px-4 pb-3 [grid-area:1/2] max-[1400px]:has-[+nav]:grid-cols-[repeat(min(var(--columns),2),minmax(0,1fr))] max-xl:grid-cols-[repeat(min(var(--columns),2),minmax(0,1fr))] max-sm:block max-sm:overflow-hidden max-sm:px-2 max-sm:pb-2"
      style={style}
    >
      {panes.map((pane, index) => (
        <ChatPane key={pane.number} pane={pane} isCurrent={pane.number === current} place={index} />
      ))}
    </div>
  );
}

interface ChatPaneProps {
  pane: Pane;
  /** Whether it is the one in view on a phone. */
  isCurrent: boolean;
  /** Its index among the panes. */
  place: number;
}

/** The next pane slides under the pointer, where a double click would close it too, or rename its chat. */
const DOUBLE_CLICK_MS = 400;
let lastClosed = { number: 0, atMs: -Infinity };
/** Of the newest click. "dblclick", which follows it, can't tell: Chromium dates it when it sends it, late on a busy page. */
let isSecondOfDoubleClick = false;

/** Notes whether a click is a double click's second. Keys' clicks have no detail; a pane that Undo reopened may close at once. */
function noteClick(number: number, { detail, timeStamp }: MouseEvent): void {
  isSecondOfDoubleClick = detail > 0 && number !== lastClosed.number && timeStamp - lastClosed.atMs < DOUBLE_CLICK_MS;
}

/** One chat. It renders only when its own pane's store changes. */
function ChatPane({ pane, isCurrent, place }: ChatPaneProps) {
  const { workspace } = useApp();
  const drop = usePaneDrop(workspace, place);
  const close = (event: MouseEvent) => {
    if (isSecondOfDoubleClick) return;
    if (event.detail > 0) lastClosed = { number: pane.number, atMs: event.timeStamp };
    const nextPane = workspace.closePane(pane);
    if (nextPane) focusMessageOf(nextPane);
  };
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <section
      className={classNames(
        "pane",
        isOutlined(pane.number) && "open",
        !isCurrent && "max-sm:hidden",
        drop.isOver && "outline-2 outline-offset-1 outline-ink",
      )}
      style={paneColorStyle(pane.number)}
      aria-label={`Pane ${pane.number}`}
      data-pane={pane.number}
      // Shortcuts act on the pane that has the focus.
      onFocus={() => workspace.select(pane.number)}
      onClickCapture={(event) => noteClick(pane.number, event)}
      onDoubleClickCapture={(event) => isSecondOfDoubleClick && event.stopPropagation()}
      {...drop.handlers}
    >
      <Guard part="This pane">
        <PaneHead pane={pane} onClose={close} />
        {/* The head stays where the chat below it fails: the pane can be closed. */}
        <Guard part="This chat" subject={pane.key}>
          <Conversation key={pane.key} pane={pane} place={place} />
          <PaneNote pane={pane} />
          <Composer pane={pane} isCurrent={isCurrent} />
        </Guard>
      </Guard>
    </section>
  );
}

const PLACE = "mx-[max(12px,calc((100%_-_608px)/2))] mb-2 max-h-[45%] flex-none overflow-auto";

/** Shows, above the composer, this pane's error, or why its question waits. */
function PaneNote({ pane }: { pane: Pane }) {
  const note = useStore(pane.store, (state) => state.note);
  const isHeld = useStore(pane.store, (state) => state.phase === "held");
  if (note === null) return isHeld ? <LoadingNote /> : null;
  return (
    <Callout tone={note.kind} title={note.title} className={PLACE} onDismiss={() => pane.notify(null)}>
      <p>{note.body}</p>
      {note.action === "start" && <StartAgainButton isQuiet />}
    </Callout>
  );
}

function LoadingNote() {
  if (useStore(useApp().engine.store, ({ status }) => status !== "loading")) return null;
  return (
    <Callout tone="info" title="Sent when the model is ready" className={PLACE}>
      <StageBar />
    </Callout>
  );
}
