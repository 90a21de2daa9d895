import { TimelineRows, type TimelineRow } from "../../state/batch/timeline-rows.ts";
import type { Cell, Timeline, Track } from "../../state/batch/timeline.ts";

export interface Place {
  readonly step: number;
  readonly row: number;
}

interface TimelineWindow {
  readonly rows: readonly TimelineRow[];
  readonly fromStep: number;
  readonly toStep: number;
}

/** The visible part of the timeline, and its cursor. */
export class TimelineView {
  readonly #timeline: Timeline;
  readonly #rows = new TimelineRows();
  #window: TimelineWindow = { rows: [], fromStep: 1, toStep: 0 };
  /** Number of columns that fit. */
  #columns = 0;
  /** The last visible column while paused; null if it follows the engine. */
  #heldStep: number | null = null;
  /** The last visible column while a step is shown that is otherwise out of view. */
  #shownStep: number | null = null;
  #cursor: Place | null = null;

  constructor(timeline: Timeline) {
    this.#timeline = timeline;
  }

  get window(): TimelineWindow {
    return this.#window;
  }

  get cursor(): Place | null {
    return this.#cursor;
  }

  placeCursor(place: Place | null): void {
    this.#cursor = place;
  }

  get isHeld(): boolean {
    return this.#heldStep !== null;
  }

  hold(isHeld: boolean): void {
    if (isHeld !== this.isHeld) this.#heldStep = isHeld ? this.#newestStep : null;
  }

  /** Updates the window for this number of columns. */
  refresh(columns: number): TimelineWindow {
    this.#columns = columns;
    const toStep = this.#lastShown;
    const fromStep = toStep - columns + 1;
    const rows = this.#rows.arrange(this.#timeline.tracksIn(fromStep, toStep));
    return (this.#window = { rows, fromStep, toStep });
  }

  /** Moves the window by columns; negative goes back in time. It is held there, and follows the engine again at the newest. */
  pan(steps: number): void {
    this.panTo(this.#lastShown + steps);
  }

  /** Moves the window to this last column, as far as steps are remembered. */
  panTo(lastStep: number): void {
    const held = Math.max(lastStep, this.#timeline.firstStep + this.#columns - 1);
    this.#heldStep = held < this.#newestStep ? held : null;
  }

  /** Shows a step while somebody points at it elsewhere; null restores the window. */
  reveal(step: number | null): void {
    this.#shownStep = null;
    if (step === null || (step > this.#lastShown - this.#columns && step <= this.#lastShown)) return;
    this.#shownStep = Math.max(this.#columns, Math.min(this.#newestStep, step + Math.floor(this.#columns / 2)));
  }

  /** Returns the line of a track; null if it has none in view. */
  rowOf(track: Track): number | null {
    const row = this.#window.rows.findIndex((tracks) => tracks.includes(track));
    return row < 0 ? null : row;
  }

  /** Returns the track of a line that began last before a step; the first track if none did. */
  trackAt({ row, step }: Place): Track | null {
    const tracks = this.#window.rows[row] ?? [];
    return tracks.findLast(({ firstStep }) => firstStep <= step) ?? tracks[0] ?? null;
  }

  cellAt(place: Place): Cell | undefined {
    return this.trackAt(place)?.cellAt(place.step);
  }

  /** Moves the cursor by cells; a new cursor starts at the newest step. The window moves with it. */
  moveCursor(steps: number, rows: number): void {
    const { rows: shown, fromStep } = this.#window;
    const toStep = this.#lastShown;
    const at = this.#cursor ?? {
      step: Number.isFinite(steps) ? toStep - steps : toStep,
      row:
        Math.max(
          0,
          shown.findIndex((tracks) => tracks.length > 0),
        ) - rows,
    };
    const row = Math.max(0, Math.min(shown.length - 1, at.row + rows));
    const oldest = Math.min(at.step, this.#timeline.firstStep);
    const step = Math.max(oldest, Math.min(this.#newestStep, at.step + steps));
    this.#cursor = { step, row };
    if (step > toStep) this.panTo(step);
    if (step < fromStep) this.pan(step - fromStep);
  }

  /** The last visible column. More steps may have happened since it was drawn. */
  get #lastShown(): number {
    return this.#shownStep ?? this.#heldStep ?? this.#newestStep;
  }

  /** The column after the newest step, where endings are drawn. */
  get #newestStep(): number {
    return this.#timeline.lastStep + 1;
  }
}
