// Regular expressions as grammars: JavaScript's notation with the flag u. Backreferences are refused, and so is what looks
// back, and what looks ahead within a long repetition.

import { ChorusError } from "../protocol/errors.ts";
import { Automaton } from "./automaton.ts";
import { ANY_CHARACTER, charSetOf, codePoint, complement, normalized, union, type CharSet } from "./char-set.ts";
import { character, choice, hasPart, NOTHING, rule, sequence, type Expression } from "./expression.ts";
import { ANY_TEXT } from "./json-layout.ts";
import { CONTROL_ESCAPES, NotationParser } from "./notation-parser.ts";
import { spend } from "./work.ts";

const DIGIT = normalized([[0x30, 0x39]]);
const WORD = union(DIGIT, charSetOf("_"), normalized([[0x41, 0x5a]]), normalized([[0x61, 0x7a]]));
const LINE_END = charSetOf("\n\r\u2028\u2029");
const SPACE = union(LINE_END, charSetOf("\t\v\f \u00a0\u1680\u202f\u205f\u3000\ufeff"), normalized([[0x2000, 0x200a]]));

/** Rounds of a repetition that looks ahead. */
const MAX_LOOKING = 8;
/** What it costs to look at all characters. */
const STEPS_OF_PROPERTY = 100_000;

/** By letter; an upper-case one has all other characters. */
const CLASSES: Readonly<Record<string, CharSet>> = { d: DIGIT, w: WORD, s: SPACE };

const withProperty = new Map<string, CharSet>();

/** Returns all characters that have a property. @param name as in {L} @throws SyntaxError if there is none */
function charactersWith(name: string): CharSet {
  const known = withProperty.get(name);
  if (known !== undefined) return known;
  const pattern = new RegExp(`\\p${name}`, "u");
  spend(STEPS_OF_PROPERTY);
  const ranges: [number, number][] = [];
  for (const [first, last] of ANY_CHARACTER) {
    for (let code = first; code <= last; code++) {
      if (!pattern.test(String.fromCodePoint(code))) continue;
      const before = ranges.at(-1);
      if (before?.[1] === code - 1) before[1] = code;
      else ranges.push([code, code]);
    }
  }
  withProperty.set(name, ranges);
  return ranges;
}

/** Matches a whole text. "^" at the beginning and "$" at the end change nothing. @throws TooComplex */
export function parseRegex(pattern: string, param: string): Expression {
  return new RegexParser(pattern, param).whole();
}

/** Matches a text that contains a match, as in a JSON schema, unless "^" and "$" anchor it. @throws TooComplex */
export function parsePattern(pattern: string, param: string): Expression {
  return new RegexParser(pattern, param).containing();
}

interface Alternative {
  readonly body: Expression;
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

/** What must follow, or must not, where it stands. */
interface Ahead {
  readonly isNot: boolean;
  readonly texts: Expression;
}

class RegexParser extends NotationParser {
  // A lazy quantifier matches the same texts.
  protected readonly repetition = /(?:[*+?]|\{\d+(?:,\d*)?\})\??/y;
  protected readonly forbiddenInClass = "[";
  readonly #param: string;
  #numGroups = 0;
  /** Where nothing of the text is read yet, though the pattern has begun. */
  #start = -1;
  /** By the name of the rule that stands where they look ahead, until it is known what follows there. */
  readonly #ahead: Ahead[] = [];

  constructor(pattern: string, param: string) {
    super(pattern);
    this.#param = param;
  }

  whole(): Expression {
    return choice(...this.#all().map(({ body }) => this.#before(body, NOTHING)));
  }

  containing(): Expression {
    return this.#around(this.#all());
  }

  #all(): Alternative[] {
    const found = this.#alternatives(false);
    if (this.at < this.source.length) throw this.invalid(`${this.one()} has nothing that it belongs to`);
    return found;
  }

  /** Alternatives share what may stand around them: an automaton would have a state for each set of them otherwise. */
  #around(alternatives: readonly Alternative[]): Expression {
    const around = (isAnchored: boolean) => (isAnchored ? NOTHING : ANY_TEXT);
    const options = [true, false].flatMap((fromStart) =>
      [true, false].flatMap((toEnd) => {
        const alike = alternatives.filter((one) => one.fromStart === fromStart && one.toEnd === toEnd);
        const bodies = choice(...alike.map(({ body }) => body));
        return alike.length > 0 ? [sequence(around(fromStart), this.#before(bodies, around(toEnd)))] : [];
      }),
    );
    return choice(...options);
  }

  /** Returns what a part of the pattern matches with the rest of the text behind it, which it may look ahead to. */
  #before(part: Expression, rest: Expression): Expression {
    spend(1);
    if (!hasPart(part, ({ kind }) => kind === "rule")) return sequence(part, rest);
    if (part.kind === "sequence") return part.parts.reduceRight((after, one) => this.#before(one, after), rest);
    if (part.kind === "choice") return choice(...part.options.map((option) => this.#before(option, rest)));
    if (part.kind === "repeat") {
      if (part.max > MAX_LOOKING) throw this.#unsupported("a repetition of what looks ahead");
      let after = rest;
      for (let round = part.max; round > 0; round--) {
        const more = this.#before(part.of, after);
        after = round > part.min ? choice(rest, more) : more;
      }
      return after;
    }
    const ahead = part.kind === "rule" ? this.#ahead[Number(part.name)] : undefined;
    const [all, texts] = [Automaton.of(rest), Automaton.of(ahead?.texts ?? ANY_TEXT)];
    return (ahead?.isNot ? Automaton.inAll([all], [texts]) : Automaton.inAll([all, texts])).expression;
  }

  /** @param areFromHere whether they match from here on only @param isStart whether this is a text's beginning, if so */
  #alternatives(areFromHere: boolean, isStart = true): Alternative[] {
    const found: Alternative[] = [];
    do found.push(...this.#alternative(areFromHere, isStart));
    while (this.takes("|"));
    return found;
  }

  #alternative(isFromHere: boolean, isStart: boolean): Alternative[] {
    if (!isStart && this.source[this.at] === "^") throw this.#unsupported("^ anywhere but at the beginning");
    const fromStart = this.takes("^") || isFromHere;
    if (fromStart && isStart) this.#start = this.at;
    return this.#wholeGroup(fromStart, isStart) ?? [{ body: this.sequence(), fromStart, toEnd: this.takes("$") }];
  }

  /** Reads an alternative that is one group, whose own alternatives may have anchors; null: it is no such group. */
  #wholeGroup(isFromHere: boolean, isStart: boolean): Alternative[] | null {
    if (!/[(:|]\^/.test(this.source)) return null;
    const before = this.at;
    spend(this.source.length);
    if (this.match(/\((?:\?:)?(?!\?)/y) !== "") {
      const found = this.#alternatives(isFromHere, isStart);
      const [isClosed, toEnd] = [this.takes(")"), this.takes("$")];
      if (isClosed && this.endsHere()) return found.map((one) => ({ ...one, toEnd: toEnd || one.toEnd }));
    }
    this.at = before;
    return null;
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
    if (next === "^") throw this.#unsupported("^ anywhere but at the beginning");
    if (next === "$") return this.#lookAhead(true, character(ANY_CHARACTER));
    if (!/[*+?{}\]]/.test(next)) return character(this.code(codePoint(next)));
    throw this.invalid(`${next} has nothing that it belongs to; write \\${next} for the character`);
  }

  #group(): Expression {
    const isStart = this.#start === this.at - 1;
    const ahead = this.match(/\?[=!]/y);
    if (ahead !== "") {
      const texts = this.#around(this.#alternatives(true, isStart));
      if (!this.takes(")")) throw this.invalid(") is missing");
      if (isStart) this.#start = this.at;
      return this.#lookAhead(ahead === "?!", texts);
    }
    if (this.match(/\?(?::|<[\w$]+>)/y) === "" && this.takes("?")) {
      throw this.#unsupported("a group that looks back, or sets flags,");
    }
    this.#numGroups += 1;
    const body = this.choice();
    this.#numGroups -= 1;
    if (!this.takes(")")) throw this.invalid(") is missing");
    return body;
  }

  #lookAhead(isNot: boolean, texts: Expression): Expression {
    return rule(String(this.#ahead.push({ isNot, texts }) - 1));
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
    if (letter === "p" || letter === "P") return this.#property(letter === "P");
    if (/^[Bk1-9c]$/.test(letter) || (letter === "b" && !inClass)) throw this.#unsupported(`\\${letter}`);
    const control = CONTROL_ESCAPES[letter];
    if (control === undefined && /^[a-zA-Z]?$/.test(letter)) throw this.invalid(`there is no \\${letter}`);
    return this.code(codePoint(control ?? letter));
  }

  #property(isNegated: boolean): CharSet {
    const name = this.match(/\{[\w=]+\}/y);
    try {
      const set = charactersWith(name);
      return isNegated ? complement(set) : set;
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
      throw this.invalid(`Unicode has no property ${name}`);
    }
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
