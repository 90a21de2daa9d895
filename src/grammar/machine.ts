// Follows a program over bytes. Where a text may be is a set of places; the sets and what leads from one to the next are
// made once and kept, so that a token is read by one look-up a byte.

import { pieces } from "./char-set.ts";
import { FIRST_TOKEN_BYTE, RETURN, type Program, type State } from "./program.ts";

/** A state, what goes on behind it, and how often a repetition's body was read. A generation has each one once. */
interface Place {
  readonly state: number;
  /** Where to go on after a rule or a body; null at the end of the text. */
  readonly behind: Place | null;
  readonly count: number;
  /** Tells a generation's places apart. */
  readonly number: number;
}

/** All places where a text may be. */
export interface Position {
  /** Those that read a byte. */
  readonly places: readonly Place[];
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
/** Positions are forgotten beyond this number, or with more places than this in all, to bound memory. */
const MAX_POSITIONS = 20_000;
const MAX_PLACES_KEPT = 2_000_000;
/** Number of masks to keep: one takes 19 kB with 151,936 tokens. */
const MAX_MASKS = 250;

export class TooManyPlaces extends Error {}

export class Machine {
  readonly #states: readonly State[];
  readonly #entries: ReadonlyMap<string, number>;
  readonly #maxPositions: number;
  /** Tokens that the grammar names. */
  readonly tokens: readonly number[];
  #places = new Map<Place | null, Map<number, Place>>();
  #numPlaces = 0;
  #positions = new Map<string, Position>();
  /** Places in the positions, each as often as it is in one. */
  #numPlacesKept = 0;
  /** Positions that have a mask, the oldest first. */
  #masked: Position[] = [];
  #generation = 0;

  constructor({ states, entries, tokens }: Program, maxPositions = MAX_POSITIONS) {
    this.#states = states;
    this.#entries = entries;
    this.#maxPositions = maxPositions;
    this.tokens = tokens;
  }

  /** Counts how often the positions were forgotten. One of an earlier generation must be renewed before it is read from. */
  get generation(): number {
    return this.#generation;
  }

  /** Returns the position before the text. @throws TooManyPlaces */
  start(): Position {
    return this.#positionAt([[this.#entries.get("root") ?? RETURN, null]]);
  }

  /** Begins a new generation if too much is kept. */
  tidy(): void {
    if (this.#positions.size <= this.#maxPositions && this.#numPlacesKept <= MAX_PLACES_KEPT) return;
    this.#generation += 1;
    // Whoever holds one of them would hold all that can be reached from it.
    for (const position of this.#positions.values()) position.next = position.mask = null;
    this.#places = new Map();
    this.#positions = new Map();
    this.#masked = [];
    this.#numPlaces = this.#numPlacesKept = 0;
  }

  /** Returns the position of this generation that equals one of an earlier generation. */
  renewed({ places, isComplete }: Position): Position {
    const renewed = places.map((place) => {
      const path: Place[] = [];
      for (let at: Place | null = place; at !== null; at = at.behind) path.push(at);
      return path.reduceRight<Place | null>((behind, { state, count }) => this.#place(state, behind, count), null);
    });
    return this.#kept(
      renewed.filter((place) => place !== null),
      isComplete,
    );
  }

  /** Keeps a position's mask until there are too many. */
  keepMask(position: Position, mask: Uint32Array): void {
    position.mask = mask;
    this.#masked.push(position);
    const oldest = this.#masked.length > MAX_MASKS ? this.#masked.shift() : undefined;
    if (oldest) oldest.mask = null;
  }

  /** Returns where a token leads that the grammar names, and which no text may use; undefined: it is not named. */
  nextByToken(position: Position, id: number): Position | null | undefined {
    const index = this.tokens.indexOf(id);
    return index < 0 ? undefined : this.next(position, FIRST_TOKEN_BYTE + index);
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
    for (const { state: at, behind: place } of places) {
      const state = this.#states[place?.state ?? RETURN];
      if (place === null || state?.kind !== "repeat" || !state.isText) continue;
      if (at !== state.body && !this.#isWithin(state.body, at)) continue;
      const left = state.max - place.count + 1;
      if (left > characters) [characters, repetition] = [left, place];
    }
    const state = this.#states[repetition?.state ?? RETURN];
    const isAll =
      repetition !== undefined &&
      state?.kind === "repeat" &&
      places.every((place) => {
        const isEnd = place.state === state.next && place.behind === repetition.behind;
        return isEnd || place.behind === repetition;
      });
    return { characters, isAll };
  }

  #isWithin(body: number, at: number): boolean {
    const state = this.#states[body];
    return state?.kind === "either" && state.next.includes(at);
  }

  #nexts({ places }: Position): (Position | null)[] {
    const edges = places.flatMap(({ state, behind }) => {
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
  #positionAt(begin: readonly (readonly [state: number, behind: Place | null])[]): Position {
    const seen = new Set<Place>();
    const places: Place[] = [];
    let isComplete = false;
    const left: [state: number, behind: Place | null, count: number][] = begin.map(([state, behind]) => [
      state,
      behind,
      0,
    ]);
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
          if (behind === null) isComplete = true;
          else left.push([behind.state, behind.behind, behind.count]);
        }
      }
    }
    return this.#kept(places, isComplete);
  }

  #kept(places: Place[], isComplete: boolean): Position {
    places.sort((a, b) => a.number - b.number);
    const key = `${places.map(({ number }) => number).join()}${isComplete ? "." : ""}`;
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    const position: Position = { places, isComplete, next: null, mask: null, isFree: null };
    this.#positions.set(key, position);
    this.#numPlacesKept += places.length;
    return position;
  }

  #place(state: number, behind: Place | null, count: number): Place {
    let inner = this.#places.get(behind);
    if (inner === undefined) this.#places.set(behind, (inner = new Map()));
    const key = state * 2 ** 20 + count;
    const known = inner.get(key) ?? { state, behind, count, number: this.#numPlaces++ };
    inner.set(key, known);
    return known;
  }
}
