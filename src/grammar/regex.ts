// Regular expressions as grammars: JavaScript's notation with the flag u. Backreferences are refused, and so are
// lookarounds, except what looks ahead from a pattern's beginning.

import { ChorusError } from "../protocol/errors.ts";
import { ANY_CHARACTER, charSetOf, codePoint, complement, normalized, union, type CharSet } from "./char-set.ts";
import { character, choice, repeat, sequence, type Expression } from "./expression.ts";
import { CONTROL_ESCAPES, NotationParser } from "./notation-parser.ts";

const DIGIT = normalized([[0x30, 0x39]]);
const WORD = union(DIGIT, charSetOf("_"), normalized([[0x41, 0x5a]]), normalized([[0x61, 0x7a]]));
const LINE_END = charSetOf("\n\r\u2028\u2029");
const SPACE = union(LINE_END, charSetOf("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff"), normalized([[0x2000, 0x200a]]));

/** By letter; an upper-case one has all other characters. */
const CLASSES: Readonly<Record<string, CharSet>> = { d: DIGIT, w: WORD, s: SPACE };

/** Matches a whole text. "^" at the beginning and "$" at the end change nothing. */
export function parseRegex(pattern: string, param: string): Expression {
  return choice(...new RegexParser(pattern, param).rest().map(({ body }) => body));
}

/** What a text must match, one expression at least, and what it must not match. */
export interface Pattern {
  readonly all: readonly Expression[];
  readonly none: readonly Expression[];
}

/** Matches a text that contains a match, as in a JSON schema, unless "^" and "$" anchor it. */
export function parsePattern(pattern: string, param: string): Pattern {
  const parser = new RegexParser(pattern, param);
  const ahead = parser.lookaheads();
  const those = (isNot: boolean) => ahead.filter((one) => one.isNot === isNot).map(({ options }) => options);
  const all = [parser.rest(ahead.length > 0), ...those(false)];
  return { all: all.map(containing), none: those(true).map(containing) };
}

/** Alternatives share what may stand around them: an automaton would have a state for each set of them otherwise. */
function containing(alternatives: readonly Alternative[]): Expression {
  const anything = repeat(character(ANY_CHARACTER), 0, Infinity);
  const around = (isAnchored: boolean) => (isAnchored ? [] : [anything]);
  const options = [true, false].flatMap((fromStart) =>
    [true, false].flatMap((toEnd) => {
      const alike = alternatives.filter((one) => one.fromStart === fromStart && one.toEnd === toEnd);
      const bodies = alike.map(({ body }) => body);
      return alike.length > 0 ? [sequence(...around(fromStart), choice(...bodies), ...around(toEnd))] : [];
    }),
  );
  return choice(...options);
}

interface Alternative {
  readonly body: Expression;
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

class RegexParser extends NotationParser {
  // A lazy quantifier matches the same texts.
  protected readonly repetition = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;
  protected readonly forbiddenInClass = "[";
  readonly #param: string;
  #numGroups = 0;

  constructor(pattern: string, param: string) {
    super(pattern);
    this.#param = param;
  }

  /** Reads what looks ahead from a text's beginning: "^(?=a)(?!b)". */
  lookaheads() {
    const found: { readonly isNot: boolean; readonly options: Alternative[] }[] = [];
    for (let sign = this.match(/\^\(\?[=!]/y); sign !== ""; sign = this.match(/\(\?[=!]/y)) {
      found.push({ isNot: sign.endsWith("!"), options: this.#alternatives(true) });
      if (!this.takes(")")) throw this.invalid(") is missing");
    }
    return found;
  }

  /** @param isBehindStart whether a text's beginning was read already */
  rest(isBehindStart = false): Alternative[] {
    const found = this.#alternatives(isBehindStart);
    if (this.at < this.source.length) throw this.invalid(`${this.one()} has nothing that it belongs to`);
    if (isBehindStart && found.length > 1) throw this.#unsupported("| behind what looks ahead");
    return found;
  }

  #alternatives(areFromStart: boolean): Alternative[] {
    const found: Alternative[] = [];
    do {
      const fromStart = this.takes("^") || areFromStart;
      const body = this.sequence();
      const toEnd = this.takes("$");
      found.push({ body, fromStart, toEnd });
    } while (this.takes("|"));
    return found;
  }

  protected endsHere(): boolean {
    const rest = this.source.slice(this.at, this.at + 2);
    // "$" ends the pattern's top-level alternatives.
    return rest === "" || /^[|)]/.test(rest) || (this.#numGroups === 0 && /^\$(?:[|)]|$)/.test(rest));
  }

  protected atom(): Expression {
    const next = this.one();
    if (next === "(") return this.#group();
    if (next === "[") return character(this.characterClass());
    if (next === ".") return character(complement(LINE_END));
    if (next === "\\") return character(this.#escape(false));
    if (next === "^" || next === "$") throw this.#unsupported(`${next} anywhere but at the beginning or the end`);
    if (!/[*+?{}\]]/.test(next)) return character(this.code(codePoint(next)));
    throw this.invalid(`${next} has nothing that it belongs to; write \\${next} for the character`);
  }

  #group(): Expression {
    if (this.match(/\?(?::|<[\w$]+>)/y) === "" && this.takes("?")) {
      throw this.#unsupported("a group that looks ahead or back, or sets flags,");
    }
    this.#numGroups += 1;
    const body = this.choice();
    this.#numGroups -= 1;
    if (!this.takes(")")) throw this.invalid(") is missing");
    return body;
  }

  protected escapeInClass(): CharSet {
    return this.#escape(true);
  }

  #escape(inClass: boolean): CharSet {
    const letter = this.one();
    const known = CLASSES[letter.toLowerCase()];
    if (known !== undefined) return letter in CLASSES ? known : complement(known);
    if (letter === "x") return this.code(this.hex(2));
    if (letter === "u") return this.code(this.#unicode());
    if (/^[BpPk1-9c]$/.test(letter) || (letter === "b" && !inClass)) throw this.#unsupported(`\\${letter}`);
    const control = CONTROL_ESCAPES[letter];
    if (control === undefined && /^[a-zA-Z]?$/.test(letter)) throw this.invalid(`there is no \\${letter}`);
    return this.code(codePoint(control ?? letter));
  }

  #unicode(): number {
    const braced = this.match(/\{[0-9a-fA-F]{1,6}\}/y);
    if (braced !== "") return parseInt(braced.slice(1), 16);
    const first = this.hex(4);
    const low = first >= 0xd800 && first <= 0xdbff ? this.match(/\\u[dD][c-fC-F][0-9a-fA-F]{2}/y) : "";
    return low === "" ? first : 0x10000 + (first - 0xd800) * 0x400 + (parseInt(low.slice(2), 16) - 0xdc00);
  }

  protected invalid(reason: string): ChorusError {
    const message = `${this.#param} is not a valid regular expression: ${reason} (at character ${this.at}).`;
    return new ChorusError("invalid_value", message, this.#param);
  }

  #unsupported(what: string): ChorusError {
    const message = `${this.#param} has ${what} at character ${this.at}, which is not supported; write it without.`;
    return new ChorusError("unsupported_parameter", message, this.#param);
  }
}
