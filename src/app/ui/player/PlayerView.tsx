import { useEffect, useMemo, useState, type KeyboardEvent, memo } from "react";
import { useStore } from "zustand";
import { paneTurnOf, keyOfSequence } from "../../state/chat/request-name.ts";
import type { Player } from "../../state/player/player.ts";
import {
  recordedToken,
  shownAt,
  textAt,
  type RecordedSequence,
  type RecordedRun,
} from "../../state/player/recorded-run.ts";
import {
  ReplayCheck,
  type ReplayResult,
  changesSince,
  refusalOf,
  type ReplayState,
} from "../../state/player/replay-check.ts";
import { BatchCounters } from "../batch/BatchCounters.tsx";
import { dockBodyClass } from "../batch/BatchDock.tsx";
import { DockPanels } from "../batch/DockPanels.tsx";
import { SCROLLED_GROUP } from "../components/scrolls.ts";
import { focusOnShow } from "../on-show.ts";
import { Transport } from "./Transport.tsx";
import { sequenceName } from "../batch/cell-facts.ts";
import { AnswerCard } from "../components/AnswerCard.tsx";
import { formatCount, plural, formatCounted } from "../format.ts";
import { useApp } from "../app/page-context.ts";
import { Button } from "../components/Button.tsx";

interface PlayedAnswerProps {
  readonly sequence: RecordedSequence;
  readonly place: number;
  /** The result of computing it again; null if it was not. */
  readonly replay: ReplayResult | null;
}

const ENDS = { stop: "ended", length: "reached the length limit", abort: "stopped" } as const;

/** A question of a recording, and its answer so far. */
const PlayedAnswer = memo(function PlayedAnswer({ sequence, place, replay }: PlayedAnswerProps) {
  const { requested, end } = sequence;
  const difference = replay?.difference ?? null;
  const { before, marked, after, numTokens } = textAt(sequence, place, difference?.token);
  return (
    <AnswerCard
      id={cardIdOf(sequence)}
      className="max-sm:max-h-55"
      pane={paneTurnOf(sequence.requestId)?.pane ?? null}
      name={sequenceName(sequence)}
      answerName="Answer"
      question={requested?.question ?? sequenceName(sequence)}
      level="h2"
      answer={
        <>
          {before.trimStart()}
          {marked !== "" && (
            <mark
              className={
                difference
                  ? "rounded-xs bg-bad-tint font-semibold text-bad underline"
                  : "rounded-xs bg-[color-mix(in_oklab,_var(--v,_var(--color-ink-3))_22%,_transparent)] text-inherit"
              }
            >
              {before === "" ? marked.trimStart() : marked}
            </mark>
          )}
          {after}
        </>
      }
    >
      <p className="small min-h-4 flex-none max-sm:t-11 max-sm:font-normal">
        <b>{formatCount(numTokens)}</b> {plural(numTokens, "token")}
        {end !== null && end.place <= place && `, ${ENDS[end.reason ?? "abort"]}`}
        {replay !== null && <ReplayFigures replay={replay} />}
      </p>
    </AnswerCard>
  );
});

function ReplayFigures({ replay: { status, numSame, difference } }: { replay: ReplayResult }) {
  if (difference !== null) {
    const { token, recorded, now } = difference;
    const name = (id: number | null) => (id === null ? "the end" : `token id ${id}`);
    return (
      <span className="block text-bad">
        ≠ from token {formatCount(token + 1)} on: {name(recorded)}, now {name(now)}
      </span>
    );
  }
  return (
    <span className="block text-good">
      {status === "done" ? "✓ the same again" : `${formatCount(numSame)} the same`}
    </span>
  );
}

/** A playing recording: its answers, and below them the batch, at the current step. */
export function PlayerView({ name, player }: { name: string; player: Player }) {
  const { run, batch } = player;
  const place = useStore(player.store, (state) => state.place);
  const isPlaying = useStore(player.store, (state) => state.isPlaying);
  const [check] = useState(() => new ReplayCheck(run));
  const results = useStore(check.store, (state) => state.results);
  const shown = useMemo(() => shownAt(run, place), [run, place]);

  useEffect(() => {
    return () => check.stop();
  }, [check]);
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    let before = performance.now();
    const tick = (now: number) => {
      player.advance(now - before);
      before = now;
      frame = requestAnimationFrame(tick);
    };
    frame = requestAnimationFrame(tick);
    return () => cancelAnimationFrame(frame);
  }, [player, isPlaying]);

  /** A row's label or a block goes to the answer. */
  const linkTo = (requestId: string) => {
    const target = shown.find((sequence) => sequence.requestId === requestId);
    return target ? () => document.getElementById(cardIdOf(target))?.focus() : null;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    // Shift selects text.
    if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const { target, currentTarget } = event;
    if (target instanceof Element && target.closest(WITH_OWN_ARROWS)) return;
    // A button is pressed by it, and an answer scrolls.
    if (event.key === " " && target === currentTarget) player.togglePlay();
    else if (event.key === "ArrowLeft") player.seek(place - 1);
    else if (event.key === "ArrowRight") player.seek(place + 1);
    else return;
    event.preventDefault();
  };
  const hasWords = run.sequences.some(({ pieces }) => pieces.length > 0);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/no-noninteractive-tabindex -- as a video has them
    <main
      ref={focusOnShow}
      className="flex min-h-0 min-w-0 flex-1 flex-col outline-none paged:overflow-y-auto"
      tabIndex={-1}
      onKeyDown={onKeyDown}
    >
      <Transport name={name} player={player} />
      <ReplayLine run={run} check={check} />
      {hasWords ? (
        <div
          className="grid min-h-0 flex-1 auto-rows-[minmax(128px,1fr)] grid-cols-[repeat(auto-fill,minmax(280px,1fr))] gap-3 overflow-y-auto px-(--page) pb-3 paged:flex-none paged:grid-cols-[repeat(auto-fill,minmax(160px,1fr))] paged:gap-1.5 paged:overflow-visible paged:px-2 paged:pb-2"
          aria-label="Answers"
          {...SCROLLED_GROUP}
        >
          {shown.map((sequence) => (
            <PlayedAnswer
              key={keyOfSequence(sequence)}
              sequence={sequence}
              place={place}
              replay={results.get(keyOfSequence(sequence)) ?? null}
            />
          ))}
        </div>
      ) : (
        <p className="max-w-(--measure) flex-1 px-4 py-3 t-14 text-ink-2">
          This recording has no words: it is of version {run.recording.version}, from an older Chorus. Its steps play;
          it can&rsquo;t be computed again.
        </p>
      )}
      <section className="dock" aria-label="Batch">
        <div className="dock-head border-b border-line">
          <h2 className="t-13 font-semibold text-ink max-sm:sr-only">Batch</h2>
          <BatchCounters metrics={batch.metrics} />
        </div>
        <div className={dockBodyClass(run.sequences.length)}>
          <DockPanels batch={batch} linkTo={linkTo} tokenOf={(output) => recordedToken(run, output)} />
        </div>
      </section>
    </main>
  );
}

/** Elements that use the left and right arrow keys. React passes on events from a dialog too. */
const WITH_OWN_ARROWS = "input, select, dialog, [role=slider]";

const cardIdOf = (sequence: RecordedSequence) => `played-${keyOfSequence(sequence)}`;

interface ReplayLineProps {
  readonly run: RecordedRun;
  readonly check: ReplayCheck;
}

/** Computes the run again, and says whether every token is the same. */
function ReplayLine({ run, check }: ReplayLineProps) {
  // Only somebody who wants that needs the chats, with their model.
  const [isWanted, setWanted] = useState(false);
  if (check.numAnswers === 0) return null;
  return (
    <div className="row mx-(--page) mb-3 min-h-(--control-h) flex-wrap gap-x-3 gap-y-2 text-ink-2">
      {isWanted ? (
        <WithEngine run={run} check={check} />
      ) : (
        <>
          <Button icon="again" onClick={() => setWanted(true)}>
            Run again
          </Button>
          <p>Computes all {formatCount(check.numAnswers)} answers again, with the recorded prompts and seeds.</p>
        </>
      )}
    </div>
  );
}

function WithEngine({ run, check }: ReplayLineProps) {
  const state = useStore(useApp().engine.store);
  const result = useStore(check.store);
  const { model } = run.recording;
  const ready = state.status === "ready" ? state.engine : null;
  const refusal = ready === null ? null : refusalOf(model, ready.model);
  const usable = refusal === null ? ready : null;
  const isRunning = result.status === "running";
  // It was requested before the engine was ready.
  useEffect(() => {
    if (usable !== null && check.store.getState().status === "idle") void check.start(usable);
  }, [usable, check]);
  return (
    <>
      {isRunning ? (
        <Button key="stop" icon="stop" onClick={() => check.stop()}>
          Stop
        </Button>
      ) : (
        <Button key="again" icon="again" disabled={usable === null} onClick={() => usable && void check.start(usable)}>
          Run again
        </Button>
      )}
      {isRunning && (
        <progress className="w-30" aria-label="Answers computed again" max={check.numAnswers} value={numDone(result)} />
      )}
      <output>
        {state.status === "loading" && "Getting the model ready …"}
        {state.status !== "loading" &&
          state.status !== "ready" &&
          `This recording can't be computed again here: ${state.error.message}`}
        {refusal}
        {usable !== null && sentence(result, check.numAnswers, changesSince(model, usable.model))}
      </output>
    </>
  );
}

function numDone({ results }: ReplayState): number {
  return [...results.values()].filter(({ status }) => status === "done").length;
}

function sentence(state: ReplayState, numAnswers: number, changes: string): string {
  const { status, results, message } = state;
  const done = formatCount(numDone(state));
  const answers = formatCounted(numAnswers, "answer");
  const all = [...results.values()];
  const different = all.filter(({ difference }) => difference !== null).length;
  const same = all.reduce((sum, { numSame }) => sum + numSame, 0);
  const how = changes === "" ? "" : ` Computed with ${changes}.`;
  switch (status) {
    case "idle":
      return "";
    case "running":
      return `${done} of ${answers}, ${formatCount(same)} tokens the same${different > 0 ? `, ${formatCount(different)} answers differ` : ""}.${how}`;
    case "stopped":
      return `Stopped after ${done} of ${answers}.${how}`;
    case "failed":
      return `Computing it again failed: ${message}`;
    case "done":
      return different === 0
        ? `All ${formatCount(same)} tokens of ${answers} are the same.${how}`
        : `${formatCount(different)} of ${answers} differ; the first token that does is marked in each.${how}`;
  }
}
