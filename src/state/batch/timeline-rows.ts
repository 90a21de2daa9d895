import { askerOf } from "../chat/request-name.ts";
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
    let rows = this.#rows.map((row) => row.filter((track) => seen.has(track)));
    const placed = new Set(rows.flat());
    // Who comes back from the past (the view was widened) came first: all are placed anew, in the order in which they began.
    if (placed.size > 0 && visible.slice(0, placed.size).some((track) => !placed.has(track))) {
      rows = [];
      placed.clear();
    }
    for (const track of visible) {
      if (placed.has(track)) continue;
      const own = rows.findIndex((row) => hasRoomFor(row, track));
      const at = own >= 0 ? own : rows.findIndex((row) => row.length === 0);
      const row = [...(rows[at] ?? []), track].sort((a, b) => a.firstStep - b.firstStep);
      if (at >= 0) rows[at] = row;
      else rows.push(row);
    }
    while (rows.at(-1)?.length === 0) rows.pop();
    return (this.#rows = rows);
  }
}

/** Whether a line is that of the track's pane, and free as long as it lasts. */
function hasRoomFor(row: TimelineRow, track: Track): boolean {
  const pane = paneOf(track);
  if (pane === null || row.length === 0) return false;
  return row.every((other) => paneOf(other) === pane && (endsBefore(other, track) || endsBefore(track, other)));
}

function endsBefore({ endStep }: Track, { firstStep }: Track): boolean {
  return endStep !== null && endStep <= firstStep;
}

function paneOf({ id }: Track): number | null {
  return askerOf(id.requestId)?.pane ?? null;
}
