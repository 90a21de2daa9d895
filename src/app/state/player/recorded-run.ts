import type { AskedReport, FinishReason, RecordedEvent, Recording, SequenceId, StepReport } from "../../../index.ts";
import type { OutputPlace } from "../chat/answer-tokens.ts";
import { paneTurnOf, keyOfSequence, nameIn } from "../chat/request-name.ts";

/** A step's addition to an answer. */
interface RecordedPiece {
  /** Number of steps finished before it was shown: it is shown from this place of the run on. */
  readonly place: number;
  readonly tokenIds: readonly number[];
  readonly text: string;
}

/** One sequence of a run: a request's choice. */
export interface RecordedSequence extends SequenceId {
  /** Null if it was asked before the recording began, or the recording has no texts. */
  readonly requested: Pick<AskedReport, "question" | "text" | "body"> | null;
  readonly pieces: readonly RecordedPiece[];
  /** The first place at which it is shown: when it was queued, or first shown. */
  readonly firstPlace: number;
  /** Null if it was still open when the recording ended. */
  readonly end: { readonly place: number; readonly reason: FinishReason | null } | null;
}

interface GrowingSequence extends RecordedSequence {
  requested: RecordedSequence["requested"];
  readonly pieces: RecordedPiece[];
  end: RecordedSequence["end"];
}

/** Most time between two steps while a run is played, so that nobody waits through a pause. */
const LONGEST_GAP_MS = 1000;

/** A recording by places: at place n its first n steps are done. What comes between two steps is at the first one's place. */
export class RecordedRun {
  readonly recording: Recording;
  readonly steps: readonly StepReport[];
  readonly sequences: readonly RecordedSequence[];
  /** When each place is reached, milliseconds of playing. */
  readonly playMs: readonly number[];
  /** Index of the first event after each place. */
  readonly #ends: readonly number[];

  constructor(recording: Recording) {
    this.recording = recording;
    const steps: StepReport[] = [];
    const ends: number[] = [];
    const playMs = [0];
    const sequences = new Map<string, GrowingSequence>();
    for (const [i, event] of recording.events.entries()) {
      if (event.type === "step") {
        ends.push(i);
        playMs.push((playMs.at(-1) ?? 0) + gapMs(steps.at(-1), event));
        steps.push(event);
      }
      addTo(sequences, event, steps.length);
    }
    ends.push(recording.events.length);
    this.steps = steps;
    this.playMs = playMs;
    this.#ends = ends;
    this.sequences = [...sequences.values()];
  }

  eventsBetween(from: number, to: number): readonly RecordedEvent[] {
    const begin = from < 0 ? 0 : (this.#ends[from] ?? 0);
    return this.recording.events.slice(begin, this.#ends[to]);
  }

  /** Returns the place that is reached at a moment of playing. */
  placeAt(ms: number): number {
    return Math.max(
      0,
      this.playMs.findLastIndex((reachedMs) => reachedMs <= ms),
    );
  }
}

/** Returns a sequence's text at a place, cut around its newest piece, or around the one with a token. */
export function textAt({ pieces }: RecordedSequence, place: number, token: number | null = null) {
  const text = { before: "", marked: "", after: "" };
  let numTokens = 0;
  for (const piece of pieces.filter((each) => each.place <= place)) {
    const first = numTokens;
    numTokens += piece.tokenIds.length;
    const isBefore = token === null ? piece.place < place : numTokens <= token;
    text[isBefore ? "before" : token === null || first <= token ? "marked" : "after"] += piece.text;
  }
  return { ...text, numTokens };
}

/** Returns the text of a request's output token; null if unknown, or if it is a later one of several in a step. */
export function recordedToken(
  { sequences }: RecordedRun,
  { requestName, output }: OutputPlace,
): { readonly text: string; readonly logprob: null } | null {
  const sequence = sequences.find(({ requestId, index }) => index === 0 && nameIn(requestId) === requestName);
  let first = 0;
  for (const { tokenIds, text } of sequence?.pieces ?? []) {
    if (first === output) return { text, logprob: null };
    first += tokenIds.length;
  }
  return null;
}

export function tokensOfSequence({ pieces }: RecordedSequence): number[] {
  return pieces.flatMap(({ tokenIds }) => [...tokenIds]);
}

const MAX_SHOWN = 16;

/** Returns the sequences to show at a place, the newest of each pane, in the order of the panes. */
export function shownAt({ sequences }: RecordedRun, place: number): readonly RecordedSequence[] {
  const byLine = new Map<string, RecordedSequence>();
  for (const sequence of sequences) {
    if (sequence.firstPlace > place) continue;
    const pane = paneTurnOf(sequence.requestId)?.pane;
    const line = pane === undefined ? sequence.requestId : `pane ${pane}`;
    const key = `${line}/${sequence.index}`;
    byLine.delete(key); // so that the newest are last
    byLine.set(key, sequence);
  }
  const paneOf = ({ requestId }: RecordedSequence) => paneTurnOf(requestId)?.pane ?? Infinity;
  return [...byLine.values()]
    .slice(-MAX_SHOWN)
    .toSorted((a, b) => paneOf(a) - paneOf(b) || a.firstPlace - b.firstPlace);
}

function gapMs(before: StepReport | undefined, { atMs, stepMs }: StepReport): number {
  const gap = before === undefined ? stepMs : atMs - before.atMs;
  return Math.max(0, Math.min(LONGEST_GAP_MS, gap));
}

function addTo(sequences: Map<string, GrowingSequence>, event: RecordedEvent, place: number): void {
  const of = ({ requestId, index }: SequenceId): GrowingSequence => {
    const key = keyOfSequence({ requestId, index });
    const known = sequences.get(key);
    if (known) return known;
    // A request's choices were asked together.
    const requested = sequences.get(`${requestId}/0`)?.requested ?? null;
    const sequence: GrowingSequence = { requestId, index, requested, pieces: [], firstPlace: place, end: null };
    sequences.set(key, sequence);
    return sequence;
  };
  if (event.type === "asked") {
    const { requestId, question, text, body } = event;
    of({ requestId, index: 0 });
    for (const one of sequences.values()) if (one.requestId === requestId) one.requested = { question, text, body };
  } else if (event.type === "answered") {
    for (const answer of event.answers) of(answer).pieces.push({ place, tokenIds: answer.tokenIds, text: answer.text });
  } else if (event.type === "step") {
    for (const entry of event.entries) {
      const sequence = of(entry);
      if (entry.finishReason !== null) sequence.end ??= { place, reason: entry.finishReason };
    }
  } else if (event.type === "request") {
    const sequence = of(event);
    if (event.status === "finished") sequence.end ??= { place, reason: event.finishReason };
  }
}
