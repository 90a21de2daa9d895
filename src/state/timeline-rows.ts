import { askerOf } from "./request-name.ts";
import type { Track } from "./timeline.ts";

/** The sequences on one line, one after the other; none: an empty line between others. */
export type TimelineRow = readonly Track[];

/**
 * Which line of the timeline each sequence stands on. A pane has a line: its questions follow one another there. A line is
 * kept until the last of its cells has left the view, and then the next who needs one takes it; so nobody moves while they
 * can be seen.
 */
export class TimelineRows {
  #rows: TimelineRow[] = [];

  /** The lines, from the first, for those that can be seen. */
  arrange(visible: readonly Track[]): readonly TimelineRow[] {
    const seen = new Set(visible);
    const rows = this.#rows.map((row) => row.filter((track) => seen.has(track)));
    const placed = new Set(rows.flat());
    for (const track of visible) {
      if (placed.has(track)) continue;
      const own = rows.findIndex((row) => goesOn(row, track));
      const at = own >= 0 ? own : rows.findIndex((row) => row.length === 0);
      if (at >= 0) rows[at] = [...(rows[at] ?? []), track];
      else rows.push([track]);
    }
    while (rows.at(-1)?.length === 0) rows.pop();
    return (this.#rows = rows);
  }
}

/** Whether a line is that of the track's pane, and free from where it begins. */
function goesOn(row: TimelineRow, track: Track): boolean {
  const last = row.at(-1);
  const pane = paneOf(track);
  if (last === undefined || pane === null || paneOf(last) !== pane) return false;
  return last.endStep !== null && last.endStep <= track.firstStep;
}

function paneOf({ id }: Track): number | null {
  return askerOf(id.requestId)?.pane ?? null;
}
