// A grammar as a machine that reads bytes. A state is followed by the next; a rule's state remembers where to go on.

import { canEnd, mayBeEmpty, rulesWhere, type Expression, type Rules } from "./expression.ts";
import { ANY_JSON_CHARACTER } from "./json-layout.ts";
import { codePoint, type CharSet } from "./char-set.ts";
import { spend, TooMuchWork } from "./work.ts";
import { utf8Sequences, type ByteRange } from "./utf8.ts";

export type State =
  /** Reads one byte. */
  | { readonly kind: "bytes"; readonly edges: readonly (readonly [range: ByteRange, next: number])[] }
  /** Goes on with any of these. */
  | { readonly kind: "either"; readonly next: readonly number[] }
  | { readonly kind: "call"; readonly rule: number; readonly next: number }
  /**
   * Reads a body and goes on with `to`, or ends. `min` and `max` bound how many bodies are read in all (null: no limit), and
   * `least` is how many a way takes to an end. `isText`: any characters of a JSON string may come.
   */
  | {
      readonly kind: "loop";
      readonly ways: readonly { readonly body: number; readonly to: number; readonly least: number }[];
      readonly min: number;
      readonly max: number | null;
      readonly end: number | null;
      readonly isText: boolean;
    }
  /** Goes on behind what called it. */
  | { readonly kind: "return" };

/** Always the first state. */
export const RETURN = 0;
/** Where no text can end, such as in an object that must contain another of its kind. No state leads to it. */
const DEAD_END = 1;
/** Keeps grammars small: an expression of 100,000 characters has fewer. */
const MAX_STATES = 2_000_000;

const ENCODER = new TextEncoder();

/** Bytes from here on are in no text of UTF-8. */
export const FIRST_TOKEN_BYTE = 0xf8;
const MAX_TOKENS = 8;

/** Programs are written as JSON, which has no Infinity. */
const limitOf = (max: number) => (max === Infinity ? null : max);

/** What a program reads one by one: bytes, or whole characters. */
interface Alphabet {
  readonly ofText: (text: string) => Iterable<number>;
  readonly ofSet: (set: CharSet) => readonly (readonly ByteRange[])[];
}

const UTF_8: Alphabet = { ofText: (text) => ENCODER.encode(text), ofSet: utf8Sequences };
export const CODE_POINTS: Alphabet = {
  ofText: (text) => Array.from(text, codePoint),
  ofSet: (set) => set.map((range) => [range]),
};

/** Its public fields are all that a machine needs, and plain data. */
export class Program {
  readonly states: State[] = [{ kind: "return" }, { kind: "either", next: [] }];
  readonly root: number;
  /** Tokens that are read as one byte each, which no text has: FIRST_TOKEN_BYTE and what follows. */
  readonly tokens: number[] = [];

  readonly #empty: ReadonlySet<string>;
  readonly #finite: ReadonlySet<string>;
  readonly #known = new Map<unknown, Map<number, number>>();
  readonly #alphabet: Alphabet;
  readonly #sequences = new Map<string, ReturnType<Alphabet["ofSet"]>>();
  readonly #continued = new Map<string, number>();
  /** States that call a rule: the rule's name, and what follows. */
  readonly #calls = new Map<number, readonly [name: string, next: number]>();

  constructor(rules: Rules, alphabet = UTF_8) {
    this.#alphabet = alphabet;
    this.#empty = rulesWhere(rules, mayBeEmpty);
    this.#finite = rulesWhere(rules, canEnd);
    const entries = new Map([...rules].map(([name, body]) => [name, this.#before(body, RETURN)]));
    for (const [at, [name, next]] of this.#calls) {
      this.states[at] = { kind: "call", rule: entries.get(name) ?? DEAD_END, next };
    }
    this.root = entries.get("root") ?? DEAD_END;
  }

  /** Returns the state that reads the expression and goes on with `next`, the same one for the same expression. */
  #before(expression: Expression, next: number): number {
    if (next === DEAD_END) return next;
    if (expression.kind !== "choice" && expression.kind !== "rule") return this.#made(expression, next);
    const key = expression.kind === "rule" ? expression.name : expression;
    const known = this.#known.get(key) ?? new Map<number, number>();
    this.#known.set(key, known);
    const state = known.get(next) ?? this.#made(expression, next);
    known.set(next, state);
    return state;
  }

  #made(expression: Expression, next: number): number {
    switch (expression.kind) {
      case "text":
        return Array.from(this.#alphabet.ofText(expression.text)).reduceRight(
          (after, byte) => this.#add({ kind: "bytes", edges: [[[byte, byte], after]] }),
          next,
        );
      case "token": {
        const byte = FIRST_TOKEN_BYTE + this.#indexOfToken(expression.id);
        return this.#add({ kind: "bytes", edges: [[[byte, byte], next]] });
      }
      case "character":
        if (expression.set.length === 0) return DEAD_END;
        return this.#add({
          kind: "bytes",
          edges: this.#sequencesOf(expression.set).map(([first = [0, 0], ...rest]) => [first, this.#bytes(rest, next)]),
        });
      case "sequence":
        return expression.parts.reduceRight((after, part) => this.#before(part, after), next);
      case "choice": {
        const options = expression.options
          .map((option) => this.#before(option, next))
          .filter((option) => option !== DEAD_END);
        const [first = DEAD_END, second] = options;
        return second === undefined ? first : this.#add({ kind: "either", next: options });
      }
      case "repeat": {
        const { of, max } = expression;
        const min = mayBeEmpty(of, this.#empty) ? 0 : expression.min;
        const body = this.#before(of, max === 1 ? next : RETURN);
        if (min > max || (body === DEAD_END && min > 0)) return DEAD_END;
        if (max === 0 || body === DEAD_END) return next;
        if (max === 1) {
          return min === 1 ? body : this.#add({ kind: "either", next: [body, next] });
        }
        const ways = [{ body, to: this.states.length, least: 1 }];
        return this.#add({ kind: "loop", ways, min, max: limitOf(max), end: next, isText: of === ANY_JSON_CHARACTER });
      }
      case "states": {
        const entries = expression.states.map(() => this.#add({ kind: "return" })); // they lead to each other
        const max = limitOf(expression.most);
        expression.states.forEach(({ isEnd, ways }, i) => {
          const [only, second] = ways;
          const edges = ways.flatMap(({ of, to }) =>
            of.kind === "character" ? of.set.map((range) => [range, entries[to] ?? DEAD_END] as const) : [],
          );
          const readsBytes =
            ways.every(({ of }) => of.kind === "character") && edges.every(([[, last]]) => last < 0x80);
          if (max === null && readsBytes) {
            const bytes: State = { kind: "bytes", edges };
            this.states[entries[i] ?? DEAD_END] = isEnd ? { kind: "either", next: [this.#add(bytes), next] } : bytes;
            return;
          }
          this.states[entries[i] ?? DEAD_END] = {
            kind: "loop",
            ways: ways.map(({ of, to }) => ({
              body: this.#before(of, RETURN),
              to: entries[to] ?? DEAD_END,
              least: 1 + (expression.states[to]?.least ?? 0),
            })),
            min: 0,
            max,
            end: isEnd ? next : null,
            isText: isEnd && !second && only?.of === ANY_JSON_CHARACTER && only.to === i,
          };
        });
        return entries[0] ?? DEAD_END;
      }
      case "rule": {
        if (!this.#finite.has(expression.name)) return DEAD_END;
        const at = this.#add({ kind: "return" }); // its rule may not be there yet
        this.#calls.set(at, [expression.name, next]);
        return at;
      }
    }
  }

  #indexOfToken(id: number): number {
    const known = this.tokens.indexOf(id);
    if (known >= 0) return known;
    if (this.tokens.length === MAX_TOKENS) throw new TooMuchWork();
    return this.tokens.push(id) - 1;
  }

  #sequencesOf(set: CharSet) {
    const key = set.join();
    const known = this.#sequences.get(key) ?? this.#alphabet.ofSet(set);
    this.#sequences.set(key, known);
    return known;
  }

  /** Reads further bytes of a character. Characters that share them share the states. */
  #bytes(ranges: readonly ByteRange[], next: number): number {
    return ranges.reduceRight((after, range) => {
      const key = `${range.join()} ${after}`;
      const known = this.#continued.get(key) ?? this.#add({ kind: "bytes", edges: [[range, after]] });
      this.#continued.set(key, known);
      return known;
    }, next);
  }

  #add(state: State): number {
    spend(1);
    if (this.states.length >= MAX_STATES) throw new TooMuchWork();
    return this.states.push(state) - 1;
  }
}
