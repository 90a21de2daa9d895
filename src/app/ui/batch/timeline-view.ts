import { TimelineRows, type TimelineRow } from "../../state/batch/timeline-rows.ts";
import type { Batch } from "../../state/batch/batch.ts";
import type { Track } from "../../state/batch/timeline.ts";
import { paneTurnOf, nameIn } from "../../state/chat/request-name.ts";
import { createStore, type ReadonlyStore } from "../../state/store.ts";
import type { Anchor } from "../components/PointerCard.tsx";
import { factsOf, type CellFacts, type TokenLookup } from "./cell-facts.ts";
import { rowHeight, TOP_PX, type Marked } from "./draw-timeline.ts";
import type { Point } from "./use-pointer-cursor.ts";

export interface Place {
  readonly step: number;
  readonly row: number;
}

/** What is known of a cell, and where it is drawn. */
interface CellCard {
  readonly facts: CellFacts;
  readonly at: Anchor;
}

const NOTHING = {
  rows: [] as readonly TimelineRow[],
  fromStep: 1,
  toStep: 0,
  /** The newest sequence of each row: they change far less often than the steps. */
  labels: [] as readonly (Track | null)[],
  cursor: null as Place | null,
  /** The last visible column while paused; null if it follows the engine. */
  heldStep: null as number | null,
  /** Cells of tokens that are pointed at elsewhere. */
  marked: null as Marked | null,
  /** The card of the cursor's cell, or of the word's under the pointer. */
  card: null as CellCard | null,
};
type TimelineState = Readonly<typeof NOTHING>;

/** The visible part of the timeline, and its cursor. It is brought up to date once a frame. */
export class TimelineView {
  readonly #batch: Pick<Batch, "timeline" | "dock" | "pointing">;
  readonly #rows = new TimelineRows();
  readonly #store = createStore<TimelineState>(() => NOTHING);
  readonly store: ReadonlyStore<TimelineState> = this.#store;
  #columns = 0;
  /** The last visible column while a step is shown that is otherwise out of view. */
  #shownStep: number | null = null;
  /** The dragged or scrolled part of a step, CSS pixels. */
  #restPx = 0;

  constructor(batch: Pick<Batch, "timeline" | "dock" | "pointing">) {
    this.#batch = batch;
  }

  /** Brings it up to date for this width. */
  update(widthPx: number, tokenOf: TokenLookup): TimelineState {
    const { timeline, dock, pointing } = this.#batch;
    dock.settleZoom(widthPx);
    const { stepPx, isPaused } = dock.store.getState();
    const { heldStep, cursor, labels, card } = this.#state;
    if (isPaused !== (heldStep !== null)) this.#store.setState({ heldStep: isPaused ? this.#newestStep : null });
    this.#columns = Math.floor(widthPx / stepPx);
    const pointed = this.#pointedElsewhere();
    this.#reveal(pointed?.fromStep ?? null);
    const toStep = this.lastShown;
    const fromStep = toStep - this.#columns + 1;
    const rows = this.#rows.arrange(timeline.tracksIn(fromStep, toStep));
    const row = pointed ? rows.findIndex((tracks) => tracks.includes(pointed.track)) : -1;
    const marked = pointed && row >= 0 ? { ...pointed, row } : null;
    const newest = rows.map((tracks) => tracks.at(-1) ?? null);
    const isSame = newest.length === labels.length && newest.every((track, at) => track === labels[at]);
    this.#store.setState({ rows, fromStep, toStep, marked, labels: isSame ? labels : newest });
    const place = cursor ?? (marked?.isWord ? { step: marked.fromStep, row: marked.row } : null);
    const next = place && this.#cellCardAt(place, stepPx, tokenOf);
    if (JSON.stringify(next) !== JSON.stringify(card)) this.#store.setState({ card: next });
    // Its step may have come since it was placed. Pointing elsewhere is not replaced.
    if (cursor && next && pointing.store.getState() === null) this.#markWords(cursor);
    return this.#state;
  }

  /** Places the cursor: its pane stands out in the batch, and its words are marked in their text. */
  placeCursor(cursor: Place | null): void {
    this.#store.setState({ cursor });
    const track = cursor && this.trackAt(cursor);
    this.#batch.dock.highlight(track ? (paneTurnOf(track.id.requestId)?.pane ?? null) : null);
    this.#markWords(cursor);
    if (cursor === null) return;
    if (cursor.step > this.lastShown) this.panTo(cursor.step);
    else if (cursor.step < this.#state.fromStep) this.panTo(this.lastShown + cursor.step - this.#state.fromStep);
  }

  /** Returns the cell at a point of the drawing; null if there is none. */
  placeAt({ x, y }: Point): Place | null {
    const { rows, fromStep, toStep } = this.#state;
    const row = Math.floor((y - TOP_PX) / rowHeight(rows.length));
    const step = fromStep + Math.floor(x / this.#batch.dock.store.getState().stepPx);
    return row >= 0 && row < rows.length && step >= 1 && step <= toStep ? { step, row } : null;
  }

  /** Returns the place some cells from the cursor; a new cursor starts at the newest step. */
  placeFrom(columns: number, rows: number): Place {
    const { rows: shown, cursor } = this.#state;
    const newest = this.lastShown;
    const first = shown.findIndex((tracks) => tracks.length > 0);
    const at = cursor ?? {
      step: Number.isFinite(columns) ? newest - columns : newest,
      row: Math.max(0, first) - rows,
    };
    const oldest = Math.min(at.step, this.#batch.timeline.firstStep);
    return {
      step: Math.max(oldest, Math.min(this.#newestStep, at.step + columns)),
      row: Math.max(0, Math.min(shown.length - 1, at.row + rows)),
    };
  }

  /** Moves the window by pixels; negative goes back in time. It is held there, and follows the engine again at the newest. */
  pan(px: number): void {
    const { stepPx } = this.#batch.dock.store.getState();
    this.#restPx += px;
    const steps = Math.trunc(this.#restPx / stepPx);
    this.#restPx -= steps * stepPx;
    if (steps !== 0) this.panTo(this.lastShown + steps);
  }

  /** Moves the window to this last column, as far as steps are remembered. */
  panTo(lastStep: number): void {
    const held = Math.max(lastStep, this.#batch.timeline.firstStep + this.#columns - 1);
    const heldStep = held < this.#newestStep ? held : null;
    this.#store.setState({ heldStep });
    this.#batch.dock.pause(heldStep !== null);
  }

  /** Returns the track of a row that began last before a step; the first track if none did. */
  trackAt({ row, step }: Place): Track | null {
    const tracks = this.#state.rows[row] ?? [];
    return tracks.findLast(({ firstStep }) => firstStep <= step) ?? tracks[0] ?? null;
  }

  /** Shows a step while somebody points at it elsewhere; null restores the window. */
  #reveal(step: number | null): void {
    this.#shownStep = null;
    if (step === null || (step > this.lastShown - this.#columns && step <= this.lastShown)) return;
    this.#shownStep = Math.max(this.#columns, Math.min(this.#newestStep, step + Math.floor(this.#columns / 2)));
  }

  #pointedElsewhere(): (Omit<Marked, "row"> & { readonly track: Track }) | null {
    const { timeline, pointing } = this.#batch;
    const pointed = pointing.store.getState();
    if (pointed === null || pointed.by === "timeline") return null;
    const { requestName, index, from, to, by } = pointed;
    const track = timeline.findTrack((id) => nameIn(id.requestId) === requestName && id.index === index);
    const last = track?.stepOf(Math.max(from, to - 1)) ?? null;
    const first = track?.stepOf(from) ?? last;
    return track && first !== null ? { track, fromStep: first, toStep: last ?? first, isWord: by === "words" } : null;
  }

  #markWords(place: Place | null): void {
    const { pointing } = this.#batch;
    const track = place && this.trackAt(place);
    const made = track?.outputsAt(place?.step ?? 0) ?? null;
    if (!track || !made) return pointing.leave("timeline");
    pointing.point({ requestName: nameIn(track.id.requestId), index: track.id.index, ...made, by: "timeline" });
  }

  #cellCardAt(place: Place, stepPx: number, tokenOf: TokenLookup): CellCard | null {
    const { rows, fromStep, toStep } = this.#state;
    const track = this.trackAt(place);
    if (!track || place.step < fromStep || place.step > toStep) return null;
    const rowPx = rowHeight(rows.length);
    const top = TOP_PX + place.row * rowPx;
    return {
      facts: factsOf(this.#batch.timeline, track, place.step, tokenOf),
      at: { left: (place.step - fromStep) * stepPx, top, bottom: top + rowPx },
    };
  }

  get #state(): TimelineState {
    return this.#store.getState();
  }

  /** The last visible column. More steps may have happened since it was drawn. */
  get lastShown(): number {
    return this.#shownStep ?? this.#state.heldStep ?? this.#newestStep;
  }

  /** The column after the newest step, where endings are drawn. */
  get #newestStep(): number {
    return this.#batch.timeline.lastStep + 1;
  }
}
