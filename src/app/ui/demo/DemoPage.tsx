import { useEffect, useState, type CSSProperties } from "react";
import { useStore } from "zustand";
import { useApp } from "../app/page-context.ts";
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
import type { Pane } from "../../state/chat/pane.ts";
import { AnswerCard } from "../components/AnswerCard.tsx";
import { Caret } from "../components/Caret.tsx";
import { formatCount, formatDuration } from "../format.ts";
import { Demo, demoResult, SIZES_IN_WORDS, speedup, type DemoRun, type DemoState } from "../../state/demo/demo.ts";
import { zoomWithDemo } from "../../state/demo/demo-zoom.ts";
import type { EngineControl, EngineState } from "../../state/engine/engine-control.ts";
import { Button } from "../components/Button.tsx";

/** The demo, which begins when the model is ready: the race on top, its eight panes, and the batch. */
export function DemoPage() {
  const chats = useApp();
  const { batch, engine } = chats;
  const [demo] = useState(() => {
    const opened = new Demo({ ...chats, now: () => performance.now() });
    zoomWithDemo(opened, batch.timeline, batch.dock);
    return opened;
  });
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
      <RecoveryNotice />
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

/** A read-only pane: a question of the demo, its answer and its figures. */
function DemoPane({ pane }: { pane: Pane }) {
  const turn = useStore(pane.store, (state) => state.turns.at(-1));
  const phase = useStore(pane.store, (state) => state.phase);
  const figures = useStore(pane.store, (state) => state.figures);
  const isBusy = phase !== "idle";
  return (
    <AnswerCard
      pane={pane.number}
      name={`Pane ${pane.number}`}
      answerName={`Answer ${pane.number}`}
      question={turn?.question}
      level="h3"
      isBusy={isBusy}
      answer={
        <>
          {turn?.answer.trimStart()}
          {turn?.end === "length" && <span className="small whitespace-nowrap"> … cut here</span>}
          {isBusy && <Caret isHollow={phase !== "streaming"} />}
        </>
      }
    >
      <p className="small h-4 min-h-4 flex-none overflow-hidden whitespace-nowrap max-sm:t-11 max-sm:font-normal">
        {figures === null || figures.ttftMs === null ? (
          isBusy && "Waiting for its turn"
        ) : (
          <>
            <b>{formatCount(figures.outputTokens)}</b> tokens, <span className="max-sm:sr-only">the </span>first after{" "}
            <b>{formatDuration(figures.ttftMs)}</b>
          </>
        )}
      </p>
    </AnswerCard>
  );
}

/** Minimum time of the bars' full width, so that they start small. */
const SHORTEST_SCALE_MS = 3000;

/** Shows both times as growing bars, and compares them at the end. */
function DemoRace({ demo, engine }: { demo: Demo; engine: EngineControl }) {
  const state = useStore(demo.store);
  const status = useStore(engine.store, (current) => current.status);
  const { phase, size, together, apart } = state;
  const other = size === 8 ? 16 : 8;
  const isBusy = phase === "running" || status !== "ready";
  const scaleMs = Math.max(SHORTEST_SCALE_MS, together.elapsedMs, apart.elapsedMs);
  return (
    <div className="box grid flex-none grid-cols-[minmax(0,380px)_minmax(0,1fr)_auto_auto] items-center gap-x-6 gap-y-2 px-4 py-3 max-xl:grid-cols-[minmax(0,1fr)_auto_auto] max-sm:grid-cols-[minmax(0,1fr)_auto] max-sm:gap-x-3 max-sm:gap-y-1.5 max-sm:px-3 max-sm:py-2">
      <div className="max-xl:col-[1/4] max-sm:col-[1/3]">
        <h2 className="t-18 tracking-[-0.01em] max-sm:[font:600_15px/20px_var(--sans)]">
          {capitalized(SIZES_IN_WORDS[size])} questions, twice
        </h2>
        {/* As high as its longest sentence: nothing below moves when it changes. */}
        <p className="min-h-10 text-pretty text-ink-2 max-xl:min-h-5 max-sm:min-h-8 max-sm:t-12">
          {phase === "closed" ? WAITS[status] : sentence(state)}
        </p>
      </div>
      <dl className="grid gap-2 max-sm:col-[1/3] max-sm:gap-0.75">
        <Bar name="All at once" run={together} scaleMs={scaleMs} />
        <Bar name="One after the other" run={apart} scaleMs={scaleMs} isPlain />
      </dl>
      <p className="grid min-w-33 max-sm:flex max-sm:min-w-0 max-sm:items-baseline max-sm:gap-1.5 max-sm:whitespace-nowrap">
        <b className="t-live tracking-[-0.02em] max-sm:[font:600_18px/28px_var(--sans)]">
          {phase === "done" ? `${speedup(together, apart)}×` : "–"}
        </b>
        <span className="small">
          faster<span className="max-sm:hidden"> together</span>
        </span>
      </p>
      <div className="row gap-1 max-sm:justify-self-end">
        <Button icon="again" className="max-sm:px-2.5" disabled={isBusy} onClick={() => void demo.start()}>
          Run again
        </Button>
        <Button className="max-sm:px-2.5" disabled={isBusy} onClick={() => void demo.start(other)}>
          Ask {other}
        </Button>
      </div>
    </div>
  );
}

const NO_ENGINE = "The engine does not run. The chats say why, and start it.";
const WAITS: Record<EngineState["status"], string> = {
  loading: "It begins when the model is ready.",
  ready: "",
  unsupported: NO_ENGINE,
  failed: NO_ENGINE,
  dead: NO_ENGINE,
};

interface BarProps {
  name: string;
  run: DemoRun;
  scaleMs: number;
  isPlain?: boolean;
}

function Bar({ name, run, scaleMs, isPlain = false }: BarProps) {
  const style = { "--share": run.elapsedMs / scaleMs } as CSSProperties;
  return (
    <div className="grid grid-cols-[18ch_minmax(0,1fr)] items-center gap-3 max-sm:grid-cols-[17ch_minmax(0,1fr)] max-sm:gap-2 max-sm:t-12">
      <dt className="text-ink-2">{name}</dt>
      <dd className="row">
        <i
          className={classNames(
            "h-4.5 w-[calc((100%_-_7ch)*var(--share))] min-w-px flex-none rounded-xs bg-ink",
            isPlain && "border-[1.5px] border-ink-3 bg-surface-3",
          )}
          style={style}
          aria-hidden="true"
        />
        <b className="min-w-[6ch] flex-none">
          {run.status === "waiting" ? "–" : `${(run.elapsedMs / 1000).toFixed(1)} s`}
        </b>
      </dd>
    </div>
  );
}

const capitalized = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

function sentence(state: DemoState): string {
  const { phase, size, together } = state;
  switch (phase) {
    case "closed":
      return "";
    case "running":
      if (together.status === "waiting")
        return "Warming up: the first short bars below are a few tokens of each, so that neither run pays for the start.";
      return together.status === "done"
        ? "Now one after the other: the same questions and seeds, each alone in its steps."
        : `All ${SIZES_IN_WORDS[size]} at once: each step computes a token for every one of them.`;
    case "failed":
      return "The demo stopped: an answer did not finish. Your chats are untouched.";
    case "done":
      return demoResult(state);
  }
}
