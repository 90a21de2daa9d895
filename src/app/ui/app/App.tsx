import type { AppState } from "../../state/app/app-state.ts";
import { Announcer } from "./Announcer.tsx";
import { Notices } from "./Notices.tsx";
import { DroppedFiles } from "./DroppedFiles.tsx";
import { BatchDock } from "../batch/BatchDock.tsx";
import { BatchStrip } from "../batch/BatchStrip.tsx";
import { Guard } from "../components/Guard.tsx";
import { lazily } from "../components/Lazily.tsx";
import { linksTo, tokensIn } from "../chat/pane-links.ts";
import { Bar } from "../bar/Bar.tsx";
import { PaneGrid } from "../chat/PaneGrid.tsx";
import { ChatSide } from "../history/ChatSide.tsx";
import { PaneSwitcher } from "../chat/PaneSwitcher.tsx";
import { RecoveryNotice } from "../engine/RecoveryNotice.tsx";
import { Toasts } from "./Toasts.tsx";
import { PHONE, useMedia } from "../use-media.ts";
import { useStore } from "../use-store.ts";

const UnsupportedPage = lazily(async () => (await import("../unsupported/UnsupportedPage.tsx")).UnsupportedPage);
const WordLinks = lazily(async () => (await import("../words/WordLinks.tsx")).WordLinks);

export function App({ app }: { app: AppState }) {
  const unsupported = useStore(app.engine.store, (state) => (state.status === "unsupported" ? state.error : null));
  const panes = useStore(app.workspace.store, (state) => state.panes);
  const isPhone = useMedia(PHONE);
  const isBatchInView = useStore(app.batch.dock.store, (state) => state.isInView);
  // On a phone the batch replaces the panes.
  const hasPanes = !isPhone || !isBatchInView;
  if (unsupported) return <UnsupportedPage engine={app.engine} error={unsupported} />;
  return (
    <div className="flex h-dvh min-h-0 flex-col">
      <Bar app={app} />
      <PaneSwitcher workspace={app.workspace} dock={app.batch.dock} />
      <RecoveryNotice app={app} />
      <Notices app={app} />
      <main className="flex min-h-0 min-w-0 flex-1 flex-col">
        {isPhone && hasPanes && <BatchStrip batch={app.batch} />}
        <div className="grid min-h-0 flex-1 [grid-template:minmax(0,1fr)_/_auto_minmax(0,1fr)]" hidden={!hasPanes}>
          <PaneGrid app={app} />
          <ChatSide app={app} />
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
      <DroppedFiles app={app} />
      <Toasts undoList={app.workspace.undoList} />
      <WordLinks app={app} />
      <Announcer announcements={app.announcements} />
    </div>
  );
}
