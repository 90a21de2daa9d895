import { paneTurnOf } from "../chat/request-name.ts";
import type { Track } from "./timeline.ts";

/** The sequences on one line, in order; an empty line between others has none. */
export type TimelineRow = readonly Track[];

/** Assigns sequences to lines, one a pane. A line is reused once its last cell has left the view: none in view moves. */
export class TimelineRows {
  #rows: TimelineRow[] = [];

  arrange(visible: readonly Track[]): readonly TimelineRow[] {
    const seen = new Set(visible);
    let rows = this.#rows.map((row) => row.filter((track) => seen.has(track)));
    const placed = new Set(rows.flat());
    // The view was widened, and older tracks are visible again: place all of them again, in the order they began.
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

/** Returns whether a line belongs to the track's pane and is free while the track lasts. */
function hasRoomFor(row: TimelineRow, track: Track): boolean {
  const pane = paneOf(track);
  if (pane === null || row.length === 0) return false;
  return row.every((other) => paneOf(other) === pane && (endsBefore(other, track) || endsBefore(track, other)));
}

function endsBefore({ endStep }: Track, { firstStep }: Track): boolean {
  return endStep !== null && endStep <= firstStep;
}

function paneOf({ id }: Track): number | null {
  return paneTurnOf(id.requestId)?.pane ?? null;
}
