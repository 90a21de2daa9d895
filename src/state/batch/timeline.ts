import type { FinishReason } from "../../protocol/openai.ts";
import type { RequestReport, SequenceId, StepEntry, StepReport } from "../../protocol/reports.ts";
import { Ring } from "../ring.ts";

/** What a sequence did in a step. */
export type Cell =
  /** Rows of its prompt; after a preemption, of all it has. */
  | { readonly kind: "prompt"; readonly rows: number; readonly cachedTokens: number; readonly start: number }
  | { readonly kind: "decode"; readonly start: number }
  /** Decoding with drafts: rows for tokens that may come next, and how many of them were taken. */
  | { readonly kind: "drafted"; readonly start: number; readonly drafted: number; readonly accepted: number }
  | { readonly kind: "waiting" }
  | { readonly kind: "preempted" }
  /** Stands in the column after its last step. */
  | { readonly kind: "finished"; readonly reason: FinishReason };

/** One sequence's line: its cells, one a step, from `firstStep` on. */
export interface Track {
  readonly id: SequenceId;
  readonly firstStep: number;
  /** The column after its last; null while it is open. */
  readonly endStep: number | null;
  cellAt(step: number): Cell | undefined;
}

/** What a step computed in all. */
export interface StepRows {
  readonly step: number;
  readonly rows: number;
  readonly promptRows: number;
}

/** So many steps are remembered. */
export const TIMELINE_STEPS = 2048;

const WAITING: Cell = { kind: "waiting" };
const PREEMPTED: Cell = { kind: "preempted" };

/** What each sequence did in each of the last steps, gathered from the engine's reports. */
export class Timeline {
  /** In the order in which they began. */
  #tracks: SequenceTrack[] = [];
  /** Those that have not ended. */
  readonly #open = new Map<string, SequenceTrack>();
  readonly #steps = new Ring<StepRows>(TIMELINE_STEPS);
  readonly #listeners = new Set<() => void>();
  #lastStep = 0;

  get lastStep(): number {
    return this.#lastStep;
  }

  /** Tells after each change; returns the function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  clear(): void {
    this.#tracks = [];
    this.#open.clear();
    this.#steps.clear();
    this.#lastStep = 0;
    this.#tell();
  }

  /** Those with a cell between two steps, both included. */
  tracksIn(fromStep: number, toStep: number): readonly Track[] {
    return this.#tracks.filter(({ firstStep, endStep }) => firstStep <= toStep && (endStep ?? Infinity) >= fromStep);
  }

  /** Undefined: forgotten, or still to come. */
  rowsOf(step: number): StepRows | undefined {
    const rows = this.#steps.fromEnd(this.#lastStep - step);
    return rows?.step === step ? rows : undefined;
  }

  addStep(report: StepReport): void {
    const { step, rows, promptRows } = report;
    this.#lastStep = step;
    this.#steps.push({ step, rows, promptRows });
    for (const entry of report.entries) {
      const track = this.#track(entry, step);
      track?.set(step, cellOf(entry));
      if (track && entry.finishReason !== null) this.#end(track, entry.finishReason);
    }
    for (const id of report.preempted) this.#track(id, step)?.set(step, PREEMPTED);
    for (const id of report.waitingIds) {
      // Of a request's choices the first stands for those that have not been seen yet.
      if (!this.#open.has(keyOf({ requestId: id, index: 0 }))) this.#track({ requestId: id, index: 0 }, step);
    }
    const waiting = new Set(report.waitingIds);
    for (const track of this.#open.values()) {
      if (waiting.has(track.id.requestId) && !track.cellAt(step)) track.set(step, WAITING);
    }
    this.#forget();
    this.#tell();
  }

  addRequest(report: RequestReport): void {
    const track = this.#open.get(keyOf(report));
    if (report.status !== "finished" || track === undefined) return;
    this.#end(track, report.finishReason ?? "abort");
    this.#tell();
  }

  /** The open track of a sequence, or a new one. Null: it has ended, and a step that was under way still names it. */
  #track(id: SequenceId, step: number): SequenceTrack | null {
    const key = keyOf(id);
    const open = this.#open.get(key);
    if (open) return open;
    if (this.#tracks.some((track) => keyOf(track.id) === key)) return null;
    const track = new SequenceTrack({ requestId: id.requestId, index: id.index }, step);
    this.#tracks.push(track);
    this.#open.set(key, track);
    return track;
  }

  #end(track: SequenceTrack, reason: FinishReason): void {
    track.end(reason);
    this.#open.delete(keyOf(track.id));
  }

  #forget(): void {
    const oldest = this.#lastStep - TIMELINE_STEPS;
    if ((this.#tracks[0]?.endStep ?? Infinity) < oldest) {
      this.#tracks = this.#tracks.filter(({ endStep }) => (endStep ?? Infinity) >= oldest);
    }
    for (const track of this.#open.values()) track.forgetBefore(oldest);
  }

  #tell(): void {
    for (const listener of this.#listeners) listener();
  }
}

class SequenceTrack implements Track {
  readonly id: SequenceId;
  firstStep: number;
  endStep: number | null = null;
  /** From firstStep on. A step in which it did nothing has none. */
  #cells: (Cell | undefined)[] = [];

  constructor(id: SequenceId, firstStep: number) {
    this.id = id;
    this.firstStep = firstStep;
  }

  cellAt(step: number): Cell | undefined {
    return this.#cells[step - this.firstStep];
  }

  set(step: number, cell: Cell): void {
    this.#cells[step - this.firstStep] = cell;
  }

  end(reason: FinishReason): void {
    this.endStep = this.firstStep + this.#cells.length;
    this.#cells.push({ kind: "finished", reason });
  }

  /** In large pieces: moving the rest costs more than keeping some too many. */
  forgetBefore(step: number): void {
    if (step - this.firstStep < TIMELINE_STEPS) return;
    this.#cells = this.#cells.slice(step - this.firstStep);
    this.firstStep = step;
  }
}

function cellOf({ start, rows, promptRows, cachedTokens, drafted, accepted }: StepEntry): Cell {
  const isPrompt = promptRows > 0 || rows - drafted > 1;
  if (isPrompt) return { kind: "prompt", rows, cachedTokens, start };
  return drafted > 0 ? { kind: "drafted", start, drafted, accepted } : { kind: "decode", start };
}

function keyOf({ requestId, index }: SequenceId): string {
  return `${requestId}/${index}`;
}
