import type { LoadProgress, LoadStage } from "../../protocol/reports.ts";

/** Twenty times a second is as often as people see a number change. */
const SHORTEST_MS = 50;

/**
 * Returns what passes reports on: those that begin or end a stage or its waiting, and of the others one in 50 ms. Each is a
 * message, and a page may draw it.
 */
export function throttleProgress(
  notify: (progress: LoadProgress) => void,
  now: () => number,
): (progress: LoadProgress) => void {
  const stages = new Map<LoadStage, { readonly last: LoadProgress; readonly reportedMs: number }>();
  return (progress) => {
    const before = stages.get(progress.stage);
    const nowMs = now();
    const isDue = before === undefined || nowMs - before.reportedMs >= SHORTEST_MS || isNews(before.last, progress);
    stages.set(progress.stage, { last: progress, reportedMs: isDue ? nowMs : before.reportedMs });
    if (isDue) notify(progress);
  };
}

function isNews(last: LoadProgress, { done, total, isWaiting = false }: LoadProgress): boolean {
  // If a file's size is unknown, its total is the bytes that have arrived.
  const isEnd = done >= total && total === last.total;
  const goesOn = last.done >= last.total && done < total; // more is to be done than was known
  return isEnd || goesOn || done < last.done || isWaiting !== (last.isWaiting ?? false);
}
