import type { LoadProgress, LoadStage } from "../../protocol/reports.ts";

/** In the order in which they are shown; some overlap in time. */
export const LOAD_STAGES: readonly LoadStage[] = ["adapter", "tokenizer", "weights", "kernels", "cache"];

export interface StageProgress {
  readonly status: "todo" | "now" | "done";
  readonly done: number;
  readonly total: number;
  readonly detail: string | null;
  /** Null until enough has been seen to tell. */
  readonly msLeft: number | null;
  readonly startedMs: number;
}

export type LoadStages = Readonly<Record<LoadStage, StageProgress>>;

// A rate taken over less than this jumps about.
const SHORTEST_SAMPLE_MS = 500;

const NOT_BEGUN: StageProgress = { status: "todo", done: 0, total: 0, detail: null, msLeft: null, startedMs: 0 };

export const NOTHING_LOADED: LoadStages = {
  adapter: NOT_BEGUN,
  tokenizer: NOT_BEGUN,
  weights: NOT_BEGUN,
  kernels: NOT_BEGUN,
  cache: NOT_BEGUN,
};

/** The stages after one more report of progress, `nowMs` on any steady clock. */
export function advanceStages(stages: LoadStages, progress: LoadProgress, nowMs: number): LoadStages {
  const before = stages[progress.stage];
  const startedMs = before.status === "todo" ? nowMs : before.startedMs;
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
      startedMs,
    } satisfies StageProgress,
  };
}

/** The stage to name where there is room for one: the first that is under way. */
export function currentStage(stages: LoadStages): LoadStage {
  return (
    LOAD_STAGES.find((stage) => stages[stage].status === "now") ??
    LOAD_STAGES.find((stage) => stages[stage].status === "todo") ??
    "cache"
  );
}
