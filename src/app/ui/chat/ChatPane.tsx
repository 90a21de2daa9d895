import type { MouseEvent } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import type { Pane } from "../../state/chat/pane.ts";
import { classNames } from "../class-names.ts";
import { Guard } from "../components/Guard.tsx";
import { isOutlined, voiceStyle } from "../voice.ts";
import { Composer, focusMessageOf } from "./Composer.tsx";
import { Conversation } from "./Conversation.tsx";
import { usePaneDrop } from "./pane-drag.ts";
import { PaneHead } from "./PaneHead.tsx";
import { PaneNote } from "./PaneNote.tsx";

interface ChatPaneProps {
  app: AppState;
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
export function ChatPane({ app, pane, isCurrent, place }: ChatPaneProps) {
  const drop = usePaneDrop(app.workspace, place);
  const close = (event: MouseEvent) => {
    if (isSecondOfDoubleClick(pane.number, event)) return;
    if (event.detail > 0) lastClosed = { number: pane.number, atMs: event.timeStamp };
    const heir = app.workspace.closePane(pane);
    if (heir) focusMessageOf(heir);
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
      style={voiceStyle(pane.number)}
      aria-label={`Pane ${pane.number}`}
      data-pane={pane.number}
      // Shortcuts act on the pane that has the focus.
      onFocus={() => app.workspace.select(pane.number)}
      onDoubleClickCapture={(event) => isSecondOfDoubleClick(pane.number, event) && event.stopPropagation()}
      {...drop.handlers}
    >
      <Guard part="This pane">
        <PaneHead app={app} pane={pane} onClose={close} />
        {/* The head stays where the chat below it fails: the pane can be closed. */}
        <Guard part="This chat" subject={pane.key}>
          <Conversation key={pane.key} app={app} pane={pane} place={place} />
          <PaneNote pane={pane} engine={app.engine} />
          <Composer pane={pane} isCurrent={isCurrent} />
        </Guard>
      </Guard>
    </section>
  );
}
