import { useEffect } from "react";
import type { AppState } from "../../state/app/app-state.ts";
import { Announcer } from "../app/Announcer.tsx";
import { PageHead } from "../bar/PageHead.tsx";
import { BatchDock } from "../batch/BatchDock.tsx";
import { BatchStrip } from "../batch/BatchStrip.tsx";
import { linksTo, tokensIn } from "../chat/pane-links.ts";
import { classNames } from "../class-names.ts";
import { Guard } from "../components/Guard.tsx";
import { SCROLLED_GROUP } from "../components/scrolls.ts";
import { Tab, Tabs } from "../components/Tabs.tsx";
import { RecoveryNotice } from "../engine/RecoveryNotice.tsx";
import { focusOnShow } from "../on-show.ts";
import { PHONE, useMedia } from "../use-media.ts";
import { useStore } from "../use-store.ts";
import { DemoPane } from "./DemoPane.tsx";
import { DemoRace } from "./DemoRace.tsx";

/** The demo, which begins when the model is ready: the race on top, its eight panes, and the batch. */
export function DemoPage({ chats }: { chats: AppState }) {
  const { batch, demo, engine } = chats;
  const isReady = useStore(engine.store, ({ status }) => status === "ready");
  const panes = useStore(demo.store, (state) => state.panes);
  const isPhone = useMedia(PHONE);
  const isBatchInView = useStore(batch.dock.store, (state) => state.isInView);
  // On a phone the batch replaces the answers; the times stay.
  const isRaceOnly = isPhone && isBatchInView;
  useEffect(() => {
    if (isReady && demo.store.getState().phase === "closed") void demo.start();
  }, [demo, isReady]);
  useEffect(() => {
    return () => demo.close();
  }, [demo]);
  return (
    <div className="flex h-dvh min-h-0 flex-col">
      <PageHead title="Demo" />
      <Tabs
        name="Demo"
        listName="Answers and batch"
        tabs={["Answers", "Batch"].map((name) => (
          <Tab
            key={name}
            isChosen={isBatchInView === (name === "Batch")}
            onChoose={() => batch.dock.show(name === "Batch")}
          >
            {name}
          </Tab>
        ))}
      />
      <RecoveryNotice app={chats} />
      <main className="flex min-h-0 min-w-0 flex-1 flex-col">
        {isPhone && !isBatchInView && <BatchStrip batch={batch} isTall />}
        <section
          ref={focusOnShow}
          className={classNames(
            "flex min-h-0 flex-1 flex-col gap-3 px-(--page) pb-3 outline-none max-sm:gap-2 max-sm:pb-2",
            isRaceOnly && "flex-none",
          )}
          aria-label="Demo"
          tabIndex={-1}
        >
          <DemoRace demo={demo} engine={engine} />
          {!isRaceOnly && (
            <div
              className="grid min-h-0 flex-1 auto-rows-[minmax(96px,1fr)] grid-cols-4 gap-3 overflow-y-auto max-sm:auto-rows-[minmax(88px,1fr)] max-sm:grid-cols-2 max-sm:gap-1.5"
              aria-label="Answers"
              {...SCROLLED_GROUP}
            >
              {panes.map((pane) => (
                <DemoPane key={pane.number} pane={pane} />
              ))}
            </div>
          )}
        </section>
        {(!isPhone || isBatchInView) && (
          <Guard part="The batch">
            <BatchDock batch={batch} numPanes={panes.length} linkTo={linksTo([], chats)} tokenOf={tokensIn(panes)} />
          </Guard>
        )}
      </main>
      <Announcer announcements={chats.announcements} />
    </div>
  );
}
