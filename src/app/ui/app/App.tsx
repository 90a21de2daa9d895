import { useStore } from "zustand";
import { useApp } from "./page-context.ts";
import { Announcer } from "./Announcer.tsx";
import { Notices } from "./Notices.tsx";
import { DroppedFiles } from "./DroppedFiles.tsx";
import { BatchDock } from "../batch/BatchDock.tsx";
import { BatchStrip } from "../batch/BatchStrip.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazyComponent } from "../components/LazyComponent.tsx";
import { linksTo, tokensIn } from "../chat/pane-links.ts";
import { Bar } from "../bar/Bar.tsx";
import { PaneGrid } from "../chat/PaneGrid.tsx";
import { PaneSwitcher } from "../chat/PaneSwitcher.tsx";
import { RecoveryNotice } from "../engine/RecoveryNotice.tsx";
import { PHONE, useMedia, HAS_ROOM_FOR_CHATS } from "../use-media.ts";
import { ActionButton } from "../actions/ActionButton.tsx";
import type { UndoList } from "../../state/workspace/undo-list.ts";

const UnsupportedPage = lazyComponent(async () => (await import("../unsupported/UnsupportedPage.tsx")).UnsupportedPage);
const WordLinks = lazyComponent(async () => (await import("../words/WordLinks.tsx")).WordLinks);

export function App() {
  const app = useApp();
  const unsupported = useStore(app.engine.store, (state) => (state.status === "unsupported" ? state.error : null));
  const panes = useStore(app.workspace.store, (state) => state.panes);
  const isPhone = useMedia(PHONE);
  const isBatchInView = useStore(app.batch.dock.store, (state) => state.isInView);
  // On a phone the batch replaces the panes.
  const hasPanes = !isPhone || !isBatchInView;
  if (unsupported) return <UnsupportedPage engine={app.engine} error={unsupported} />;
  return (
    <div className="flex h-dvh min-h-0 flex-col">
      <Bar />
      <PaneSwitcher workspace={app.workspace} dock={app.batch.dock} />
      <RecoveryNotice />
      <Notices />
      <main className="flex min-h-0 min-w-0 flex-1 flex-col">
        {isPhone && hasPanes && <BatchStrip batch={app.batch} />}
        <div className="grid min-h-0 flex-1 [grid-template:minmax(0,1fr)_/_auto_minmax(0,1fr)]" hidden={!hasPanes}>
          <PaneGrid />
          <ChatSide />
        </div>
        {(!isPhone || isBatchInView) && (
          <Guard part="The batch">
            <BatchDock
              batch={app.batch}
              numPanes={panes.length}
              linkTo={linksTo(panes, app)}
              tokenOf={tokensIn(panes)}
            />
          </Guard>
        )}
      </main>
      <DroppedFiles />
      <Toasts undoList={app.workspace.undoList} />
      <WordLinks />
      <Announcer announcements={app.announcements} />
    </div>
  );
}

const Chats = lazyComponent(async () => (await import("../history/Chats.tsx")).Chats);

/** The list of chats, at the side of a window that is wide enough. Its place is kept before it is loaded. */
function ChatSide() {
  const { chatSide } = useApp();
  const isShown = useStore(chatSide.store) === "shown";
  const hasRoom = useMedia(HAS_ROOM_FOR_CHATS);
  if (!isShown || !hasRoom) return null;
  return (
    // Before the panes to the eye, after them to Tab: it may have hundreds of buttons.
    <nav className="flex min-h-0 w-64 flex-col pb-3 pl-2 [--edge:12px] [grid-area:1/1]" aria-label="Chats">
      <div className="row justify-between pl-(--edge)">
        <h2 className="title">Chats</h2>
        <ActionButton action="chats.side" icon="left" name="Hide the list of chats" />
      </div>
      <Guard part="The list of chats">
        <Chats takesFocus={chatSide.takeCall} isNarrow />
      </Guard>
    </nav>
  );
}

const UndoToast = lazyComponent(async () => (await import("./UndoToast.tsx")).UndoToast);

/** The place of the newest toast. It is there from the start, so that screen readers speak new toasts. */
function Toasts({ undoList }: { undoList: UndoList }) {
  const toast = useStore(undoList.store, (state) => state.toast);
  return (
    <output className="over bottom-6 max-sm:bottom-23">
      {toast && <UndoToast undoList={undoList} toast={toast} />}
    </output>
  );
}
