import type { Batch } from "../../state/batch/batch.ts";
import type { Timeline, Track } from "../../state/batch/timeline.ts";
import { DataTable } from "../components/DataTable.tsx";
import { formatCount } from "../format.ts";
import { useStore } from "../use-store.ts";
import { cellWords, sequenceName } from "./cell-facts.ts";

/** Number of newest steps in the table. */
const STEPS = 100;

const COLUMNS = [
  "Sequence",
  "Now",
  "Prompt tokens computed",
  "Found in the cache",
  "Decode steps",
  "Tokens drafted",
  "Drafted tokens accepted",
  "Steps waited",
  "Preempted",
];

/** The timeline as a table for screen readers. */
export function TimelineTable({ batch: { metrics, timeline } }: { batch: Batch }) {
  // At most four times per second, with the figures: a table that is being read must not change with every step.
  const step = useStore(metrics.store, (figures) => figures.step);
  const from = Math.max(1, step - STEPS + 1);
  const caption = `Timeline, steps ${formatCount(from)} to ${formatCount(step)}`;
  const rows = timeline.tracksIn(from, step).map((track) => rowOf(track, from, timeline));
  return <DataTable caption={caption} columns={COLUMNS} rows={rows} />;
}

function rowOf(track: Track, from: number, timeline: Timeline): readonly string[] {
  const count = { promptTokens: 0, cachedTokens: 0, decode: 0, drafted: 0, accepted: 0, waiting: 0, preempted: 0 };
  for (let step = Math.max(from, track.firstStep); step <= timeline.lastStep; step++) {
    const cell = track.cellAt(step);
    if (cell?.kind === "prompt") {
      count.promptTokens += cell.rows;
      count.cachedTokens += cell.cachedTokens;
    } else if (cell?.kind === "drafted") {
      count.decode += 1;
      count.drafted += cell.drafted;
      count.accepted += cell.accepted;
    } else if (cell && cell.kind !== "finished") count[cell.kind] += 1;
  }
  const now = cellWords(track.cellAt(track.endStep ?? timeline.lastStep));
  return [sequenceName(track.id), now, ...Object.values(count).map(formatCount)];
}
