// Follows a program over bytes. Where a text may be is a set of places; the sets and what leads from one to the next are
// made once and kept, so that a token is read by one look-up a byte.

import { pieces } from "./char-set.ts";
import { TooMuchWork } from "./work.ts";
import { FIRST_TOKEN_BYTE, RETURN, type Program, type State } from "./program.ts";

/** A state, what goes on behind it, and how often a repetition's body was read. Each is there once until a machine forgets. */
interface Place {
  readonly state: number;
  /** Where to go on after a rule or a body; null at the end of the text. */
  readonly behind: Place | null;
  readonly count: number;
  /** No other place of the machine has it. */
  readonly number: number;
}

type Beginning = Pick<Place, "state" | "behind">;

/** All places where a text may be. */
export interface Position {
  /** Those that read a byte. */
  readonly places: readonly Place[];
  /** Whether the text may end here. */
  readonly isComplete: boolean;
  /** By byte: where `next` has what follows; 0 where the byte is forbidden. Null until a byte is read here. */
  index: Uint8Array | null;
  /** Positions, or where those begin that nobody has come to. */
  next: (Position | null | readonly Beginning[])[];
  mask: Mask | null;
  /** How many characters of a JSON string may come at least; null if nobody has asked. */
  characters: number | null;
}

/** Tokens that may come: those of another mask, apart from some. */
export interface Mask {
  readonly base: Uint32Array | null;
  /** Words that differ: each one's index, then its bits that do. */
  readonly others: Uint32Array;
}

/** More places than this at once: the grammar is too ambiguous to be followed. */
const MAX_PLACES = 20_000;
/** A machine forgets its positions beyond this number, or with more places than this in all, and masks beyond these bytes. */
const MAX_POSITIONS = 20_000;
const MAX_PLACES_KEPT = 500_000;
const MAX_MASK_BYTES = 1_000_000;

const QUOTE = 0x22;

type PlainProgram = Pick<Program, "states" | "root" | "tokens">;

export class Machine {
  readonly program: PlainProgram;
  /** How often the positions were forgotten. Those that are still held can be read from: their places say all. */
  numForgotten = 0;
  readonly #states: readonly State[];
  readonly #maxPositions: number;
  #places = new Map<Place | null, Map<number, Place>>();
  #numPlaces = 0;
  #positions = new Map<string, Position>();
  /** Places in the positions, each as often as it is in one. */
  #numPlacesKept = 0;
  /** Positions that have a mask, the oldest first. */
  #masked: Position[] = [];
  #maskBytes = 0;

  constructor(program: PlainProgram, maxPositions = MAX_POSITIONS) {
    this.program = program;
    this.#states = program.states;
    this.#maxPositions = maxPositions;
  }

  /** Returns the position before the text. @throws TooMuchWork */
  start(): Position {
    return this.positionAt([{ state: this.program.root, behind: null }]);
  }

  /** Forgets the positions if too much is kept. */
  tidy(): void {
    if (this.#positions.size <= this.#maxPositions && this.#numPlacesKept <= MAX_PLACES_KEPT) return;
    this.numForgotten += 1;
    // Whoever holds one of them would hold all that can be reached from it.
    for (const position of this.#positions.values()) {
      position.index = position.mask = null;
      position.next = [];
    }
    this.#places = new Map();
    this.#positions = new Map();
    this.#masked = [];
    this.#numPlacesKept = this.#maskBytes = 0;
  }

  /** Keeps a position's mask until there are too many. */
  keepMask(position: Position, mask: Mask): void {
    position.mask = mask;
    this.#maskBytes += mask.others.byteLength;
    this.#masked.push(position);
    while (this.#maskBytes > MAX_MASK_BYTES) {
      const oldest = this.#masked.shift();
      this.#maskBytes -= oldest?.mask?.others.byteLength ?? 0;
      if (oldest) oldest.mask = null;
    }
  }

  /** Returns where a token leads that the grammar names, and which no text may use; undefined: it is not named. */
  nextByToken(position: Position, id: number): Position | null | undefined {
    const index = this.program.tokens.indexOf(id);
    return index < 0 ? undefined : this.next(position, FIRST_TOKEN_BYTE + index);
  }

  next(position: Position, byte: number): Position | null {
    const at = (position.index ??= this.#indexOf(position))[byte] ?? 0;
    const next = position.next[at] ?? null;
    if (next === null || "places" in next) return next;
    return (position.next[at] = this.positionAt(next));
  }

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
      if (place === null || state?.kind !== "loop" || !state.isText) continue;
      const number = state.ways[0]?.body;
      const body = this.#states[number ?? RETURN];
      if (at !== number && !(body?.kind === "either" && body.next.includes(at))) continue;
      const left = (state.max ?? Infinity) - place.count + 1;
      if (left > characters) [characters, repetition] = [left, place];
    }
    const isEnd = ({ state: at }: Place) => {
      const state = this.#states[at];
      return state?.kind === "bytes" && state.edges.every(([[first, last]]) => first === QUOTE && last === QUOTE);
    };
    return { characters, isAll: places.every((place) => place.behind === repetition || isEnd(place)) };
  }

  /** Returns what may be read at a position, apart from each other, and where that leads. */
  edgesOf({ places }: Position) {
    const edges = places.flatMap(({ state: at, behind }) => {
      const reads = this.#states[at];
      return reads?.kind === "bytes"
        ? reads.edges.map(([[first, last], state]) => ({ first, last, state, behind }))
        : [];
    });
    return pieces(edges);
  }

  /** Finds out which bytes lead on together. */
  #indexOf(position: Position): Uint8Array {
    const index = new Uint8Array(256);
    position.next = [null];
    for (const { first, last, of } of this.edgesOf(position)) {
      index.fill(position.next.push(of) - 1, first, last + 1);
    }
    return index;
  }

  /** Returns the position where one may be in any of these states. */
  positionAt(begin: readonly Beginning[]): Position {
    const seen = new Set<Place>();
    const places: Place[] = [];
    let isComplete = false;
    const left = begin.map(({ state, behind }) => this.#place(state, behind));
    for (let place = left.pop(); place !== undefined; place = left.pop()) {
      if (seen.has(place)) continue;
      seen.add(place);
      if (seen.size > MAX_PLACES) throw new TooMuchWork();
      const { state: number, behind, count } = place;
      const state = this.#states[number];
      switch (state?.kind) {
        case "bytes":
          places.push(place);
          break;
        case "either":
          for (const next of state.next) left.push(this.#place(next, behind));
          break;
        case "call": {
          const isLast = this.#states[state.next]?.kind === "return";
          left.push(this.#place(state.rule, isLast ? behind : this.#place(state.next, behind)));
          break;
        }
        case "loop": {
          // What fewer rounds may be followed by contains what more may be.
          if (count > 0 && state.min === 0 && seen.has(this.#place(number, behind, count - 1))) break;
          if (state.end !== null && count >= state.min) left.push(this.#place(state.end, behind));
          const after = state.max === null ? Math.min(count + 1, state.min) : count + 1;
          for (const { body, to, least } of state.ways) {
            if (count + least > (state.max ?? Infinity)) continue;
            left.push(this.#place(body, this.#place(to, behind, after)));
          }
          break;
        }
        case "return":
        case undefined:
          if (behind === null) isComplete = true;
          else left.push(behind);
      }
    }
    return this.#kept(places, isComplete);
  }

  #kept(places: Place[], isComplete: boolean): Position {
    places.sort((a, b) => a.number - b.number);
    const key = `${places.map(({ number }) => number).join()}${isComplete ? "." : ""}`;
    const known = this.#positions.get(key);
    if (known !== undefined) return known;
    const position: Position = { places, isComplete, index: null, next: [], mask: null, characters: null };
    this.#positions.set(key, position);
    this.#numPlacesKept += places.length;
    return position;
  }

  #place(state: number, behind: Place | null, count = 0): Place {
    let inner = this.#places.get(behind);
    if (inner === undefined) this.#places.set(behind, (inner = new Map()));
    const key = state * 2 ** 20 + count;
    const known = inner.get(key) ?? { state, behind, count, number: this.#numPlaces++ };
    inner.set(key, known);
    return known;
  }
}
