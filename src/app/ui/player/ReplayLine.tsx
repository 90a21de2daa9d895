import { useEffect, useState } from "react";
import { useStore } from "zustand";
import type { RecordedRun } from "../../state/player/recorded-run.ts";
import { changesSince, refusalOf, type ReplayState, type ReplayCheck } from "../../state/player/replay-check.ts";
import { useApp } from "../app/page-context.ts";
import { Button, Icon } from "../components/Button.tsx";
import { formatCount, formatCounted } from "../format.ts";

interface ReplayLineProps {
  readonly run: RecordedRun;
  readonly check: ReplayCheck;
}

/** Computes the run again, and says whether every token is the same. */
export function ReplayLine({ run, check }: ReplayLineProps) {
  // Only somebody who wants that needs the chats, with their model.
  const [isWanted, setWanted] = useState(false);
  if (check.numAnswers === 0) return null;
  return isWanted ? (
    <WithEngine run={run} check={check} />
  ) : (
    <div className="row mx-(--page) mb-3 min-h-(--control-h) flex-wrap gap-x-3 gap-y-2 text-ink-2">
      <Button onClick={() => setWanted(true)}>
        <Icon name="again" />
        Run again
      </Button>
      <p>Computes all {formatCount(check.numAnswers)} answers again, with the recorded prompts and seeds.</p>
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
    <div className="row mx-(--page) mb-3 min-h-(--control-h) flex-wrap gap-x-3 gap-y-2 text-ink-2">
      {isRunning ? (
        <Button key="stop" onClick={() => check.stop()}>
          <Icon name="stop" />
          Stop
        </Button>
      ) : (
        <Button key="again" disabled={usable === null} onClick={() => usable && void check.start(usable)}>
          <Icon name="again" />
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
    </div>
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
