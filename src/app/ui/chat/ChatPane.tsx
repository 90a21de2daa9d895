import type { MouseEvent } from "react";
import type { Pane } from "../../state/chat/pane.ts";
import { useApp } from "../app/page-context.ts";
import { classNames } from "../class-names.ts";
import { Guard } from "../components/Guard.tsx";
import { isOutlined, paneColorStyle } from "../pane-color.ts";
import { Composer, focusMessageOf } from "./Composer.tsx";
import { Conversation } from "./Conversation.tsx";
import { usePaneDrop } from "./pane-drag.ts";
import { PaneHead } from "./PaneHead.tsx";
import { PaneNote } from "./PaneNote.tsx";

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

/** Returns whether a click is a double click's second. Keys' clicks have no detail; a pane that Undo reopened may close at once. */
function isSecondOfDoubleClick(number: number, { detail, timeStamp }: MouseEvent): boolean {
  return detail > 0 && number !== lastClosed.number && timeStamp - lastClosed.atMs < DOUBLE_CLICK_MS;
}

/** One chat. It renders only when its own pane's store changes. */
export function ChatPane({ pane, isCurrent, place }: ChatPaneProps) {
  const { workspace } = useApp();
  const drop = usePaneDrop(workspace, place);
  const close = (event: MouseEvent) => {
    if (isSecondOfDoubleClick(pane.number, event)) return;
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
      onDoubleClickCapture={(event) => isSecondOfDoubleClick(pane.number, event) && event.stopPropagation()}
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
