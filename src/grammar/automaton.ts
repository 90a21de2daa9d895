// Regular languages, to intersect and complement what expressions describe.

import { ANY_CHARACTER, codePoint, complement, intersection, normalized, pieces, type CharSet } from "./char-set.ts";
import { choice, NOTHING, repeat, sequence, type Expression } from "./expression.ts";
import { ANY_JSON_CHARACTER, jsonCharacter } from "./json-text.ts";

/** More states than this make no grammar that is worth having. */
const MAX_STATES = 20_000;
const MAX_PARTS = 100_000;

export class TooComplex extends Error {}

interface State {
  readonly isEnd: boolean;
  /** Apart from each other; characters in none of them are forbidden. */
  readonly edges: readonly Edge[];
}

type Edge = readonly [set: CharSet, to: number];

/** What follows a part of an expression: a character, or several ways to go on. Part 0 is the end. */
type Part = { readonly set: CharSet; readonly next: number } | { readonly ways: readonly number[] };

/** Makes so many rules, which may refer to each other, and returns the first one. */
export type DefineAll = (
  count: number,
  bodyOf: (number: number, ruleOf: (number: number) => Expression) => Expression,
) => Expression;

export class Automaton {
  /** The first one is the start. */
  readonly #states: readonly State[];

  constructor(states: readonly State[]) {
    this.#states = states;
  }

  /** @param expression without rules @throws TooComplex */
  static of(expression: Expression): Automaton {
    const parts = partsOf(expression);
    const start = parts.length - 1;
    return new Automaton(
      explored([start], (here) => {
        const all = new Set(here);
        for (const at of all) {
          const part = parts[at];
          if (part && "ways" in part) for (const way of part.ways) all.add(way);
        }
        const edges = [...all].flatMap((at) => {
          const part = parts[at];
          return part && "set" in part ? part.set.map(([first, last]) => ({ first, last, to: part.next })) : [];
        });
        return { isEnd: all.has(0), edges: apart(edges) };
      }),
    );
  }

  get isEmpty(): boolean {
    return !this.#states.some(({ isEnd }) => isEnd);
  }

  /** Returns whether the text is one of the language. */
  has(value: string): boolean {
    let at: number | undefined = 0;
    for (const letter of value) {
      const code = codePoint(letter);
      const edges: readonly Edge[] = this.#states[at]?.edges ?? [];
      at = edges.find(([set]) => set.some(([first, last]) => first <= code && code <= last))?.[1];
      if (at === undefined) return false;
    }
    return this.#states[at]?.isEnd ?? false;
  }

  /** Returns all other texts. */
  complement(): Automaton {
    const sink = this.#states.length;
    const states = this.#states.map(({ isEnd, edges }): State => {
      const left = complement(normalized(edges.flatMap(([set]) => set)));
      return { isEnd: !isEnd, edges: left.length > 0 ? [...edges, [left, sink]] : edges };
    });
    return new Automaton([...states, { isEnd: true, edges: [[ANY_CHARACTER, sink]] }]);
  }

  /** Returns the texts of both. @throws TooComplex */
  intersection(other: Automaton): Automaton {
    const states = explored([0, 0], ([a = 0, b = 0]) => {
      const [ours, theirs] = [this.#states[a], other.#states[b]];
      const edges = (ours?.edges ?? []).flatMap(([set, to]) =>
        (theirs?.edges ?? []).flatMap(([otherSet, otherTo]) => {
          const both = intersection(set, otherSet);
          return both.length > 0 ? [[both, [to, otherTo]] as const] : [];
        }),
      );
      return { isEnd: (ours?.isEnd ?? false) && (theirs?.isEnd ?? false), edges };
    });
    return new Automaton(finite(states));
  }

  /** Returns the texts as they stand in a JSON string: a rule for each state. */
  inJson(defineAll: DefineAll): Expression {
    /** By set: equal ones make the same expression, which a program has once. */
    const characters = new Map<string, Expression>();
    const characterOf = (set: CharSet): Expression => {
      const known = characters.get(set.join()) ?? jsonCharacter(set);
      characters.set(set.join(), known);
      return known;
    };
    return defineAll(this.#states.length, (number, ruleOf) => {
      const { isEnd, edges } = this.#states[number] ?? { isEnd: false, edges: [] };
      const isAnything = isEnd && edges.length === 1 && edges[0]?.[1] === number && isAll(edges[0][0]);
      if (isAnything) return repeat(ANY_JSON_CHARACTER, 0, Infinity);
      const onwards = edges.map(([set, to]) => sequence(characterOf(set), ruleOf(to)));
      return choice(...(isEnd ? [NOTHING] : []), ...onwards);
    });
  }
}

function isAll(set: CharSet): boolean {
  return complement(set).length === 0;
}

/** Returns the expression's parts; the last one is its beginning. */
function partsOf(expression: Expression): Part[] {
  const parts: Part[] = [{ ways: [] }];
  const add = (part: Part) => {
    if (parts.length >= MAX_PARTS) throw new TooComplex();
    return parts.push(part) - 1;
  };
  const before = (one: Expression, next: number): number => {
    switch (one.kind) {
      case "text":
        return Array.from(one.text).reduceRight((after, letter) => {
          const code = codePoint(letter);
          return add({ set: [[code, code]], next: after });
        }, next);
      case "character":
        return add({ set: one.set, next });
      case "sequence":
        return one.parts.reduceRight((after, part) => before(part, after), next);
      case "choice":
        if (one.options.length === 1) return one.options.reduce((after, option) => before(option, after), next);
        return add({ ways: one.options.map((option) => before(option, next)) });
      case "repeat": {
        let after = next;
        if (one.max === Infinity) {
          const ways = [next];
          after = add({ ways });
          ways.push(before(one.of, after));
        } else {
          for (let i = one.min; i < one.max; i++) {
            const body = before(one.of, after);
            if (body === after) break; // It reads nothing, however often.
            after = add({ ways: [body, next] });
          }
        }
        for (let i = 0; i < one.min; i++) {
          const body = before(one.of, after);
          if (body === after) break;
          after = body;
        }
        return after;
      }
      case "rule":
      case "token":
        throw new TooComplex();
    }
  };
  add({ ways: [before(expression, 0)] });
  return parts;
}

/** Numbers the states that can be reached, which are lists of numbers at first. @throws TooComplex */
function explored(
  start: readonly number[],
  stateOf: (here: readonly number[]) => {
    readonly isEnd: boolean;
    readonly edges: readonly (readonly [CharSet, readonly number[]])[];
  },
): State[] {
  const numbers = new Map([[start.join(), 0]]);
  const lists = [start];
  const states: State[] = [];
  for (const list of lists) {
    const { isEnd, edges } = stateOf(list);
    const numbered = edges.map(([set, to]): Edge => {
      const number = numbers.get(to.join()) ?? lists.push(to) - 1;
      if (number >= MAX_STATES) throw new TooComplex();
      numbers.set(to.join(), number);
      return [set, number];
    });
    states.push({ isEnd, edges: numbered });
  }
  return states;
}

/** Returns sets of characters that are apart, each with all places that one may come to by them. */
function apart(
  ranges: readonly { readonly first: number; readonly last: number; readonly to: number }[],
): (readonly [CharSet, readonly number[]])[] {
  const sets = new Map<string, { readonly set: [number, number][]; readonly to: readonly number[] }>();
  for (const { first, last, of } of pieces(ranges)) {
    const to = [...new Set(of.map((range) => range.to))].toSorted((a, b) => a - b);
    const known = sets.get(to.join()) ?? { set: [], to };
    known.set.push([first, last]);
    sets.set(to.join(), known);
  }
  return [...sets.values()].map(({ set, to }) => [normalized(set), to]);
}

/** Returns the states without edges to those from which no text ends. */
function finite(states: readonly State[]): State[] {
  const before: number[][] = states.map(() => []);
  states.forEach(({ edges }, from) => {
    for (const [, to] of edges) before[to]?.push(from);
  });
  const alive = new Set(states.flatMap(({ isEnd }, number) => (isEnd ? [number] : [])));
  for (const number of alive) for (const from of before[number] ?? []) alive.add(from);
  return states.map(({ isEnd, edges }) => ({ isEnd, edges: edges.filter(([, to]) => alive.has(to)) }));
}
