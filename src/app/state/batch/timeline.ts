import {
  tokensOf,
  type FinishReason,
  type RequestReport,
  type SequenceId,
  type StepEntry,
  type StepReport,
} from "../../../index.ts";

import { keyOfSequence } from "../chat/request-name.ts";
import { createStore } from "../store.ts";

/** A sequence's work in a step. */
export type Cell =
  /** Rows of its prompt; after a preemption, of all its tokens. */
  | { readonly kind: "prompt"; readonly rows: number; readonly cachedTokens: number; readonly start: number }
  | { readonly kind: "decode"; readonly start: number }
  /** Decoding with drafts: how many tokens were drafted, and how many of them were accepted. */
  | { readonly kind: "drafted"; readonly start: number; readonly drafted: number; readonly accepted: number }
  | { readonly kind: "waiting" }
  | { readonly kind: "preempted" }
  /** Drawn in the column after its last step. */
  | { readonly kind: "finished"; readonly reason: FinishReason };

/** Totals of one step. */
export type StepRows = Pick<StepReport, "step" | "rows" | "promptRows" | "stepMs">;

export const TIMELINE_STEPS = 2048;

const WAITING: Cell = { kind: "waiting" };
const PREEMPTED: Cell = { kind: "preempted" };

/** The work of each sequence in each of the last steps, gathered from the engine's reports. */
export class Timeline {
  /** Tracks in the order they began. */
  #tracks: SequenceTrack[] = [];
  /** Tracks that have not ended. */
  readonly #open = new Map<string, SequenceTrack>();
  /** By their numbers, in order. */
  readonly #steps = new Map<number, StepRows>();
  readonly #numChanges = createStore<number>(() => 0);
  #lastStep = 0;

  get lastStep(): number {
    return this.#lastStep;
  }

  /** Calls `listener` after each change. Returns the function that unsubscribes. */
  readonly subscribe = (listener: () => void): (() => void) => this.#numChanges.subscribe(listener);

  clear(): void {
    this.#tracks = [];
    this.#open.clear();
    this.#steps.clear();
    this.#lastStep = 0;
    this.#notify();
  }

  /** The oldest step that is remembered; lastStep + 1 if none is. */
  get firstStep(): number {
    return this.#lastStep - this.#steps.size + 1;
  }

  /** Returns the newest track of a request's sequence. @param isOf returns whether a track belongs to it */
  findTrack(isOf: (id: SequenceId) => boolean): Track | null {
    return this.#tracks.findLast(({ id }) => isOf(id)) ?? null;
  }

  /** Returns the tracks with a cell between two steps, both included. */
  tracksIn(fromStep: number, toStep: number): readonly Track[] {
    return this.#tracks.filter(({ firstStep, endStep }) => firstStep <= toStep && (endStep ?? Infinity) >= fromStep);
  }

  /** Returns a step's rows; undefined if it is too old, or not computed yet. */
  rowsOf(step: number): StepRows | undefined {
    return this.#steps.get(step);
  }

  addStep(report: StepReport): void {
    const { step, rows, promptRows, stepMs } = report;
    this.#lastStep = step;
    this.#steps.set(step, { step, rows, promptRows, stepMs });
    for (const entry of report.entries) {
      const track = this.#track(entry, step);
      track?.set(step, cellOf(entry), tokensOf(entry));
      if (track && entry.finishReason !== null) this.#end(track, entry.finishReason);
    }
    for (const id of report.preempted) this.#track(id, step)?.set(step, PREEMPTED);
    for (const id of report.waitingIds) {
      // The first choice of a request stands for those not seen yet.
      if (!this.#open.has(keyOfSequence({ requestId: id, index: 0 }))) this.#track({ requestId: id, index: 0 }, step);
    }
    const waiting = new Set(report.waitingIds);
    for (const track of this.#open.values()) {
      if (waiting.has(track.id.requestId) && !track.cellAt(step)) track.set(step, WAITING);
    }
    this.#forget();
    this.#notify();
  }

  addRequest(report: RequestReport): void {
    const track = this.#open.get(keyOfSequence(report));
    if (track) track.promptTokens = report.promptTokens;
    if (report.status !== "finished" || track === undefined) return;
    this.#end(track, report.finishReason ?? "abort");
    this.#notify();
  }

  /** Returns a sequence's open track or a new one; null if it has ended, though a step in flight still names it. */
  #track(id: SequenceId, step: number): SequenceTrack | null {
    const key = keyOfSequence(id);
    const open = this.#open.get(key);
    if (open) return open;
    if (this.#tracks.some((track) => keyOfSequence(track.id) === key)) return null;
    const track = new SequenceTrack({ requestId: id.requestId, index: id.index }, step);
    this.#tracks.push(track);
    this.#open.set(key, track);
    return track;
  }

  #end(track: SequenceTrack, reason: FinishReason): void {
    track.end(reason);
    this.#open.delete(keyOfSequence(track.id));
  }

  #forget(): void {
    const oldest = this.#lastStep - TIMELINE_STEPS;
    for (const step of this.#steps.keys()) {
      if (step > oldest) break;
      this.#steps.delete(step);
    }
    if ((this.#tracks[0]?.endStep ?? Infinity) < oldest) {
      this.#tracks = this.#tracks.filter(({ endStep }) => (endStep ?? Infinity) >= oldest);
    }
    for (const track of this.#open.values()) track.forgetBefore(oldest);
  }

  #notify(): void {
    this.#numChanges.setState((num) => num + 1, true);
  }
}

export type Track = Readonly<
  Pick<SequenceTrack, "id" | "firstStep" | "endStep" | "promptTokens" | "cellAt" | "outputsAt" | "stepOf">
>;

/** One sequence's line: one cell per step, from `firstStep` on. */
class SequenceTrack {
  readonly id: SequenceId;
  firstStep: number;
  /** The column after its last; null while it is open. */
  endStep: number | null = null;
  /** Null until a report has it. */
  promptTokens: number | null = null;
  /** Cells from firstStep on. A step in which the sequence did nothing has none. */
  #cells: (Cell | undefined)[] = [];
  /** Output tokens after each of these steps. */
  #outputs: number[] = [];
  #numOutputs = 0;
  /** Number of output tokens before firstStep. */
  #outputsBefore = 0;

  constructor(id: SequenceId, firstStep: number) {
    this.id = id;
    this.firstStep = firstStep;
  }

  cellAt(step: number): Cell | undefined {
    return this.#cells[step - this.firstStep];
  }

  /** Returns the range [from, to) of its output tokens that a step made; null if it made none, or is forgotten. */
  outputsAt(step: number): { readonly from: number; readonly to: number } | null {
    const to = this.#outputs[step - this.firstStep];
    if (to === undefined) return null;
    const from = this.#outputs[step - this.firstStep - 1] ?? this.#outputsBefore;
    return from < to ? { from, to } : null;
  }

  /** Returns the step that made an output token; null if there is no such token, or the step is forgotten. */
  stepOf(output: number): number | null {
    if (output < this.#outputsBefore) return null;
    const at = this.#outputs.findIndex((numOutputs) => output < numOutputs);
    return at < 0 ? null : this.firstStep + at;
  }

  /** @param numTokens number of tokens that it took */
  set(step: number, cell: Cell, numTokens = 0): void {
    const at = step - this.firstStep;
    this.#cells[at] = cell;
    while (this.#outputs.length < at) this.#outputs.push(this.#numOutputs);
    this.#outputs[at] = this.#numOutputs += numTokens;
  }

  end(reason: FinishReason): void {
    this.endStep = this.firstStep + this.#cells.length;
    this.#cells.push({ kind: "finished", reason });
  }

  /** Forgets older steps, in large pieces: moving the rest costs more than keeping a few too many. */
  forgetBefore(step: number): void {
    if (step - this.firstStep < TIMELINE_STEPS) return;
    const numForgotten = step - this.firstStep;
    this.#outputsBefore = this.#outputs[numForgotten - 1] ?? this.#outputsBefore;
    this.#cells = this.#cells.slice(numForgotten);
    this.#outputs = this.#outputs.slice(numForgotten);
    this.firstStep = step;
  }
}

function cellOf({ start, rows, promptRows, cachedTokens, drafted, accepted }: StepEntry): Cell {
  const isPrompt = promptRows > 0 || rows - drafted > 1;
  if (isPrompt) return { kind: "prompt", rows, cachedTokens, start };
  return drafted > 0 ? { kind: "drafted", start, drafted, accepted } : { kind: "decode", start };
}
