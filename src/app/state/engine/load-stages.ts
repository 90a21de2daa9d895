import type { LoadProgress, LoadStage } from "../../../index.ts";

/** The stages' parts of all that is to be done, roughly by their time. In display order; some overlap in time. */
const PARTS: Record<LoadStage, number> = { adapter: 1, tokenizer: 1, weights: 10, memory: 3, kernels: 4, cache: 1 };
const LOAD_STAGES = Object.keys(PARTS) as LoadStage[];

const NOT_BEGUN = {
  status: "todo" as "todo" | "now" | "done",
  done: 0,
  total: 0,
  detail: null as string | null,
  /** Null until it can be measured. */
  msLeft: null as number | null,
  /** Whether the server has sent nothing for some seconds. */
  isWaiting: false,
  startedMs: 0,
};
export type StageProgress = Readonly<typeof NOT_BEGUN>;

export type LoadStages = Readonly<Record<LoadStage, StageProgress>>;

// A rate over a shorter time is too noisy.
const SHORTEST_SAMPLE_MS = 500;

export const NOTHING_LOADED = Object.fromEntries(LOAD_STAGES.map((stage) => [stage, NOT_BEGUN])) as LoadStages;

/** Returns the stages after one more progress report. `nowMs` is on any steady clock. */
export function advanceStages(stages: LoadStages, progress: LoadProgress, nowMs: number): LoadStages {
  const before = stages[progress.stage];
  // A second attempt counts from the beginning.
  const startedMs = before.status === "todo" || progress.done < before.done ? nowMs : before.startedMs;
  const isDone = progress.total > 0 && progress.done >= progress.total;
  const elapsedMs = nowMs - startedMs;
  const canTell = !isDone && elapsedMs >= SHORTEST_SAMPLE_MS && progress.done > 0;
  return {
    ...stages,
    [progress.stage]: {
      status: isDone ? "done" : "now",
      done: progress.done,
      total: progress.total,
      detail: progress.detail ?? before.detail,
      msLeft: canTell ? (elapsedMs / progress.done) * (progress.total - progress.done) : null,
      isWaiting: !isDone && progress.isWaiting === true,
      startedMs,
    } satisfies StageProgress,
  };
}

/** Returns how much of all is done, 0..1. */
export function shareLoaded(stages: LoadStages): number {
  const doneOf = (stage: LoadStage) => PARTS[stage] * (stages[stage].done / Math.max(1, stages[stage].total));
  const sum = (of: (stage: LoadStage) => number) => LOAD_STAGES.reduce((all, stage) => all + of(stage), 0);
  return sum(doneOf) / sum((stage) => PARTS[stage]);
}

/** Returns the stage to show where there is room for one: the first that is in progress. */
export function currentStage(stages: LoadStages): LoadStage {
  const first = (status: StageProgress["status"]) => LOAD_STAGES.find((stage) => stages[stage].status === status);
  return first("now") ?? first("todo") ?? "cache";
}
