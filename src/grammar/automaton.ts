// Regular languages: the texts that several expressions describe and others don't.

import { ANY_CHARACTER, codePoint, normalized, pieces } from "./char-set.ts";
import { canEnd, character, IMPOSSIBLE, type Expression } from "./expression.ts";
import { ANY_TEXT, type Quotes } from "./json-layout.ts";
import { Machine } from "./machine.ts";
import { CODE_POINTS, Program } from "./program.ts";
import { spend, TooComplex } from "./work.ts";

/** More states or edges than this make no grammar that is worth having. */
const MAX_STATES = 20_000;
const MAX_EDGES = 200_000;

interface Reaching<Way> {
  readonly isEnd: boolean;
  readonly edges: readonly Way[];
}

/** Its edges are apart from each other; characters in none of them are forbidden. */
type State = Reaching<Edge<number>>;

interface Edge<Place> {
  readonly first: number;
  readonly last: number;
  readonly to: Place;
}

const MAX_REMEMBERED = 200;
const remembered = new Map<string, Automaton>();

export class Automaton {
  /** The first one is the start. */
  readonly #states: readonly State[];
  #expression: Expression | undefined;

  constructor(states: readonly State[]) {
    this.#states = states;
  }

  /** Returns what was made for a key lately. */
  static remembered(this: void, key: string, make: () => Automaton): Automaton {
    const known = remembered.get(key) ?? make();
    if (remembered.size > MAX_REMEMBERED) remembered.clear();
    remembered.set(key, known);
    return known;
  }

  /** @param expression without rules @throws TooComplex */
  static of(this: void, expression: Expression): Automaton {
    const machine = new Machine(new Program(new Map([["root", expression]]), CODE_POINTS), Infinity);
    const states = explored(
      machine.start(),
      (position) => position,
      (position) => ({
        isEnd: position.isComplete,
        edges: machine.edgesOf(position).map(({ first, last, of }) => ({ first, last, to: machine.positionAt(of) })),
      }),
    );
    return new Automaton(states);
  }

  /** Returns the texts that are in all of some languages, one at least, and in none of others. @throws TooComplex */
  static inAll(all: readonly Automaton[], none: readonly Automaton[] = []): Automaton {
    const languages = [...all, ...none];
    if (languages.length === 1 && all[0]) return all[0];
    const isIn = (holds: (language: number) => boolean) =>
      languages.every((_, language) => holds(language) === language < all.length);
    const states = explored(
      languages.map(() => 0),
      String,
      (here) => {
        const at = languages.map((language, i) => language.#states[here[i] ?? -1]);
        const ranges = at.flatMap((state, language) => state?.edges.map((edge) => ({ ...edge, language })) ?? []);
        const edges = pieces(ranges).map(({ first, last, of }) => {
          const to = languages.map(() => -1);
          for (const { language, to: next } of of) to[language] = next;
          return { first, last, to };
        });
        const isPossible = ({ to }: Edge<readonly number[]>) => all.every((_, i) => to[i] !== -1);
        return { isEnd: isIn((language) => at[language]?.isEnd ?? false), edges: edges.filter(isPossible) };
      },
    );
    return new Automaton(finite(states));
  }

  static inAny(languages: readonly Automaton[]): Automaton {
    return Automaton.inAll([ANYTHING], [Automaton.inAll([ANYTHING], languages)]);
  }

  get isEmpty(): boolean {
    return !this.#states.some(({ isEnd }) => isEnd);
  }

  has(value: string): boolean {
    let at: number | undefined = 0;
    for (const letter of value) {
      const code = codePoint(letter);
      const edges: readonly Edge<number>[] = this.#states[at]?.edges ?? [];
      at = edges.find(({ first, last }) => first <= code && code <= last)?.to;
      if (at === undefined) return false;
    }
    return this.#states[at]?.isEnd ?? false;
  }

  /** The texts as they are. */
  get expression(): Expression {
    return (this.#expression ??= this.inQuotes({ character }));
  }

  /** Returns the texts of at most so many characters, as they stand between quotes. */
  inQuotes(quotes: Pick<Quotes, "character">, most = Infinity): Expression {
    /** By set: equal ones make the same expression, which a program has once. */
    const characters = new Map<string, Expression>([[ANY_CHARACTER.join(), quotes.character(ANY_CHARACTER)]]);
    const states = this.#states.map(({ isEnd, edges }) => {
      const sets = new Map<number, (readonly [number, number])[]>();
      for (const { first, last, to } of edges) sets.set(to, [...(sets.get(to) ?? []), [first, last]]);
      const ways = [...sets].map(([to, ranges]) => {
        const set = normalized(ranges);
        const known = characters.get(set.join()) ?? quotes.character(set);
        characters.set(set.join(), known);
        return { of: known, to };
      });
      return { isEnd, edges: ways.filter(({ of }) => canEnd(of, new Set())) };
    });
    const distances = distancesToEnd(states);
    if (distances[0] === undefined || distances[0] > most) return IMPOSSIBLE;
    return {
      kind: "states",
      most,
      states: finite(states).map(({ isEnd, edges }, i) => ({ isEnd, least: distances[i] ?? Infinity, ways: edges })),
    };
  }
}

const ANYTHING = Automaton.of(ANY_TEXT);

/** Numbers what can be reached from a start. @param keyOf the same for the same places @throws TooComplex */
function explored<Place>(
  start: Place,
  keyOf: (place: Place) => unknown,
  stateOf: (place: Place) => { readonly isEnd: boolean; readonly edges: readonly Edge<Place>[] },
): State[] {
  const numbers = new Map([[keyOf(start), 0]]);
  const places = [start];
  const states: State[] = [];
  let numEdges = 0;
  for (const place of places) {
    const { isEnd, edges } = stateOf(place);
    numEdges += edges.length;
    spend(1 + edges.length);
    if (states.length === MAX_STATES || numEdges > MAX_EDGES) throw new TooComplex();
    const numbered = edges.map(({ first, last, to }) => {
      const key = keyOf(to);
      const number = numbers.get(key) ?? places.push(to) - 1;
      numbers.set(key, number);
      return { first, last, to: number };
    });
    states.push({ isEnd, edges: numbered });
  }
  return states;
}

/** Returns the states without edges to those from which no text ends. */
function finite<Way extends { readonly to: number }>(states: readonly Reaching<Way>[]): Reaching<Way>[] {
  const distances = distancesToEnd(states);
  return states.map(({ isEnd, edges }) => ({ isEnd, edges: edges.filter(({ to }) => distances[to] !== undefined) }));
}

/** Returns how many characters each state is from an end, at least; undefined where no text ends. */
function distancesToEnd(states: readonly Reaching<{ readonly to: number }>[]): (number | undefined)[] {
  const before: number[][] = states.map(() => []);
  states.forEach(({ edges }, from) => {
    for (const { to } of edges) before[to]?.push(from);
  });
  const distances: (number | undefined)[] = states.map(({ isEnd }) => (isEnd ? 0 : undefined));
  const found = states.flatMap(({ isEnd }, number) => (isEnd ? [number] : []));
  for (const to of found) {
    for (const from of before[to] ?? []) {
      if (distances[from] !== undefined) continue;
      distances[from] = (distances[to] ?? 0) + 1;
      found.push(from);
    }
  }
  return distances;
}
