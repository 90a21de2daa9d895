import type { Track } from "./timeline.ts";

/**
 * Which line of the timeline each sequence stands on. A line is a slot: it is a sequence's until the last of its cells
 * has left the view, and then the next one takes it; so nobody moves while they can be seen.
 */
export class TimelineRows {
  #rows: (Track | null)[] = [];

  /** The lines, from the first, for those that can be seen; null: an empty one between others. */
  arrange(visible: readonly Track[]): readonly (Track | null)[] {
    const seen = new Set(visible);
    this.#rows = this.#rows.map((track) => (track !== null && seen.has(track) ? track : null));
    const placed = new Set(this.#rows);
    for (const track of visible) {
      if (placed.has(track)) continue;
      const free = this.#rows.indexOf(null);
      if (free >= 0) this.#rows[free] = track;
      else this.#rows.push(track);
    }
    while (this.#rows.at(-1) === null) this.#rows.pop();
    return this.#rows;
  }
}
