// Follows a program over bytes. Where a text may be is a set of places; the sets and what leads from one to the next are
// made once and kept, so that a token is read by one look-up a byte.

import { pieces } from "./char-set.ts";
import { RETURN, type Program, type State } from "./program.ts";

/** A state, what goes on behind it, and how often a repetition's body was read. Kept once, by number. */
interface Place {
  readonly state: number;
  /** Where to go on after a rule or a body; 0 at the end of the text. */
  readonly behind: number;
  readonly count: number;
}

/** All places where a text may be. */
export interface Position {
  /** Numbers of places that read a byte. */
  readonly places: readonly number[];
  /** Whether the text may end here. */
  readonly isComplete: boolean;
  /** By byte; null where the byte is forbidden. Computed with the first byte that is read here. */
  next: readonly (Position | null)[] | null;
  mask: Uint32Array | null;
  /** Whether any token that is a part of a JSON string may come; null if nobody has asked. */
  isFree: boolean | null;
}

/** More places than this at once: the grammar is too ambiguous to be followed. */
const MAX_PLACES = 20_000;
/** Positions are forgotten beyond this number, to bound memory. */
const MAX_POSITIONS = 20_000;

export class TooManyPlaces extends Error {}

export class Machine {
  readonly #states: readonly State[];
  readonly #entries: ReadonlyMap<string, number>;
  #places: Place[] = [];
  #placeNumbers = new Map<number, Map<number, number>>();
  #positions = new Map<string, Position>();
  #generation = 0;

  constructor({ states, entries }: Program) {
    this.#states = states;
    this.#entries = entries;
    this.#forget();
  }

  /** Counts how often the positions were forgotten. Those of an earlier generation can't be read from any more. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns the position before the text, and begins a new generation if there are too many positions. */
  start(): Position {
    if (this.#positions.size > MAX_POSITIONS) this.#forget();
    return this.#positionAt([[this.#entries.get("root") ?? RETURN, 0]]);
  }

  next(position: Position, byte: number): Position | null {
    return (position.next ??= this.#nexts(position))[byte] ?? null;
  }

  /** Returns whether this is one of the grammar's texts. */
  accepts(text: string): boolean {
    const end = new TextEncoder()
      .encode(text)
      .reduce<Position | null>((at, byte) => at && this.next(at, byte), this.start());
    return end?.isComplete ?? false;
  }

  /** Returns how many more characters of a JSON string may come at least, and whether nothing but them and its end can. */
  textAhead({ places }: Position): { readonly characters: number; readonly isAll: boolean } {
    let characters = 0;
    let repetition: Place | undefined;
    for (const number of places) {
      const place = this.#places[this.#places[number]?.behind ?? 0];
      const state = this.#states[place?.state ?? RETURN];
      if (place === undefined || state?.kind !== "repeat" || !state.isText) continue;
      if (this.#places[number]?.state !== state.body && !this.#isWithin(state.body, this.#places[number]?.state))
        continue;
      const left = state.max - place.count + 1;
      if (left > characters) [characters, repetition] = [left, place];
    }
    const state = this.#states[repetition?.state ?? RETURN];
    const isAll =
      repetition !== undefined &&
      state?.kind === "repeat" &&
      places.every((number) => {
        const place = this.#places[number];
        const isEnd = place?.state === state.next && place.behind === repetition.behind;
        return isEnd || this.#places[place?.behind ?? 0] === repetition;
      });
    return { characters, isAll };
  }

  #isWithin(body: number, at: number | undefined): boolean {
    const state = this.#states[body];
    return state?.kind === "either" && at !== undefined && state.next.includes(at);
  }

  #forget(): void {
    this.#generation += 1;
    this.#places = [{ state: RETURN, behind: 0, count: 0 }];
    this.#placeNumbers = new Map();
    this.#positions = new Map();
  }

  #nexts({ places }: Position): (Position | null)[] {
    const edges = places.flatMap((number) => {
      const { state, behind } = this.#places[number] ?? { state: RETURN, behind: 0 };
      const reads = this.#states[state];
      return reads?.kind === "bytes" ? reads.edges.map(([[first, last], to]) => ({ first, last, to, behind })) : [];
    });
    const next = Array.from<Position | null>({ length: 256 }).fill(null);
    for (const { first, last, of } of pieces(edges)) {
      next.fill(this.#positionAt(of.map(({ to, behind }) => [to, behind])), first, last + 1);
    }
    return next;
  }

  /** Returns the position where one may be in any of these states. */
  #positionAt(begin: readonly (readonly [state: number, behind: number])[]): Position {
    const seen = new Set<number>();
    const places: number[] = [];
    let isComplete = false;
    const left: [state: number, behind: number, count: number][] = begin.map(([state, behind]) => [state, behind, 0]);
    for (let now = left.pop(); now !== undefined; now = left.pop()) {
      const [number, behind, count] = now;
      const place = this.#place(number, behind, count);
      if (seen.has(place)) continue;
      seen.add(place);
      if (seen.size > MAX_PLACES) throw new TooManyPlaces();
      const state = this.#states[number];
      switch (state?.kind) {
        case "bytes":
          places.push(place);
          break;
        case "either":
          for (const next of state.next) left.push([next, behind, 0]);
          break;
        case "call": {
          const isLast = this.#states[state.next]?.kind === "return";
          left.push([this.#entries.get(state.rule) ?? RETURN, isLast ? behind : this.#place(state.next, behind, 0), 0]);
          break;
        }
        case "repeat": {
          // What fewer rounds may be followed by contains what more may be.
          if (count > 0 && state.min === 0 && seen.has(this.#place(number, behind, count - 1))) break;
          if (count >= state.min) left.push([state.next, behind, 0]);
          if (count >= state.max) break;
          const after = state.max === Infinity ? Math.min(count + 1, state.min) : count + 1;
          left.push([state.body, this.#place(number, behind, after), 0]);
          break;
        }
        case "return":
        case undefined: {
          const back = this.#places[behind];
          if (behind === 0 || back === undefined) isComplete = true;
          else left.push([back.state, back.behind, back.count]);
        }
      }
    }
    const key = `${places.sort((a, b) => a - b).join()}${isComplete ? "." : ""}`;
    const known = this.#positions.get(key) ?? { places, isComplete, next: null, mask: null, isFree: null };
    this.#positions.set(key, known);
    return known;
  }

  #place(state: number, behind: number, count: number): number {
    let numbers = this.#placeNumbers.get(behind);
    if (numbers === undefined) this.#placeNumbers.set(behind, (numbers = new Map()));
    const key = state * 2 ** 20 + count;
    const known = numbers.get(key) ?? this.#places.push({ state, behind, count }) - 1;
    numbers.set(key, known);
    return known;
  }
}
