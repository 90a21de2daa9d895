// Regular expressions as grammars: JavaScript's notation with the flag u. Lookarounds and backreferences are refused.

import { ChorusError } from "../protocol/errors.ts";
import { ANY_CHARACTER, codePoint, complement, normalized, union, type CharSet } from "./char-set.ts";
import { character, choice, repeat, sequence, type Expression } from "./expression.ts";
import { CLASS_ESCAPES, CONTROL_ESCAPES, NO_LINE_END } from "./regex-classes.ts";

const MAX_REPEAT = 10_000;
const MAX_DEPTH = 64;

/** Matches a whole text. "^" at the beginning and "$" at the end change nothing. */
export function parseRegex(pattern: string, param: string): Expression {
  return choice(...new RegexParser(pattern, param).alternatives().map(({ body }) => body));
}

/** Matches a text that contains a match, as in a JSON schema, unless "^" and "$" anchor it. */
export function parsePattern(pattern: string, param: string): Expression {
  const anything = repeat(character(ANY_CHARACTER), 0, Infinity);
  return choice(
    ...new RegexParser(pattern, param)
      .alternatives()
      .map(({ body, fromStart, toEnd }) =>
        sequence(...(fromStart ? [] : [anything]), body, ...(toEnd ? [] : [anything])),
      ),
  );
}

interface Alternative {
  readonly body: Expression;
  readonly fromStart: boolean;
  readonly toEnd: boolean;
}

class RegexParser {
  readonly #characters: readonly string[];
  readonly #param: string;
  #at = 0;
  #depth = 0;

  constructor(pattern: string, param: string) {
    this.#characters = Array.from(pattern);
    this.#param = param;
  }

  alternatives(): Alternative[] {
    const found: Alternative[] = [];
    do {
      const fromStart = this.#takes("^");
      const body = this.#sequence();
      const toEnd = this.#takes("$");
      found.push({ body, fromStart, toEnd });
    } while (this.#takes("|"));
    if (this.#at < this.#characters.length) throw this.#invalid(`${this.#peek()} has nothing that it belongs to`);
    return found;
  }

  #choice(): Expression {
    const options = [this.#sequence()];
    while (this.#takes("|")) options.push(this.#sequence());
    return choice(...options);
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const next = this.#peek();
      if (next === undefined || next === "|" || next === ")" || this.#isLastDollar()) return sequence(...parts);
      parts.push(this.#quantified(this.#atom()));
    }
  }

  /** Whether "$" ends one of the pattern's top-level alternatives. */
  #isLastDollar(): boolean {
    const after = this.#characters[this.#at + 1];
    return this.#depth === 0 && this.#peek() === "$" && (after === undefined || after === "|");
  }

  #quantified(atom: Expression): Expression {
    const bounds = this.#quantifier();
    if (bounds === null) return atom;
    this.#takes("?"); // a lazy quantifier matches the same texts
    const [min, max] = bounds;
    if (min > max) throw this.#invalid(`{${min},${max}} is empty`);
    if (min > MAX_REPEAT || (max !== Infinity && max > MAX_REPEAT)) {
      throw this.#invalid(`repeats more than ${MAX_REPEAT} times`);
    }
    return repeat(atom, min, max);
  }

  #quantifier(): [number, number] | null {
    if (this.#takes("*")) return [0, Infinity];
    if (this.#takes("+")) return [1, Infinity];
    if (this.#takes("?")) return [0, 1];
    if (!this.#takes("{")) return null;
    const min = this.#number();
    const max = this.#takes(",") ? (this.#peek() === "}" ? Infinity : this.#number()) : min;
    this.#expect("}");
    return [min, max];
  }

  #number(): number {
    let digits = "";
    while (/^\d$/.test(this.#peek() ?? "")) digits += this.#take();
    if (digits === "") throw this.#invalid("a number is missing after {");
    return Number(digits);
  }

  #atom(): Expression {
    const next = this.#take();
    switch (next) {
      case "(":
        return this.#group();
      case "[":
        return character(this.#characterClass());
      case ".":
        return character(NO_LINE_END);
      case "\\":
        return character(this.#escape(false));
      case "^":
      case "$":
        throw this.#unsupported(`${next} anywhere but at the beginning or the end`);
      case "*":
      case "+":
      case "?":
      case "{":
      case "}":
      case "]":
        throw this.#invalid(`${next} has nothing that it belongs to; write \\${next} for the character`);
      default:
        return character(this.#single(next));
    }
  }

  #group(): Expression {
    if (++this.#depth > MAX_DEPTH) throw this.#invalid(`groups are nested more than ${MAX_DEPTH} deep`);
    if (this.#takes("?")) {
      if (this.#takes("<") && /^[\w$]$/.test(this.#peek() ?? "")) {
        while (this.#take() !== ">");
      } else if (!this.#takes(":")) {
        throw this.#unsupported("a group that looks ahead or back, or sets flags,");
      }
    }
    const body = this.#choice();
    this.#expect(")");
    this.#depth -= 1;
    return body;
  }

  #characterClass(): CharSet {
    const isNegated = this.#takes("^");
    let set: CharSet = [];
    while (!this.#takes("]")) {
      const first = this.#classMember();
      const [start] = first;
      const isRange = this.#peek() === "-" && this.#characters[this.#at + 1] !== "]";
      if (!isRange) {
        set = union(set, first);
        continue;
      }
      this.#take();
      const [end] = this.#classMember();
      if (start === undefined || end === undefined || start[0] !== start[1] || end[0] !== end[1] || start[0] > end[0]) {
        throw this.#invalid("a range in [] is out of order, or not between characters");
      }
      set = union(set, normalized([[start[0], end[0]]]));
    }
    return isNegated ? complement(set) : set;
  }

  #classMember(): CharSet {
    const next = this.#take();
    if (next === "[" || next === undefined) throw this.#invalid("[ is not closed, or another is within it");
    return next === "\\" ? this.#escape(true) : this.#single(next);
  }

  #escape(inClass: boolean): CharSet {
    const letter = this.#take();
    const known = CLASS_ESCAPES[letter];
    if (known !== undefined) return known;
    const control = CONTROL_ESCAPES[letter];
    if (control !== undefined) return this.#single(control);
    if (letter === "b" && inClass) return this.#single("\b");
    if (letter === "x") return this.#code(this.#hex(2));
    if (letter === "u") return this.#code(this.#unicode());
    if (/^[bBpPk1-9c]$/.test(letter)) throw this.#unsupported(`\\${letter}`);
    if (/^[a-zA-Z]$/.test(letter)) throw this.#invalid(`there is no \\${letter}`);
    return this.#single(letter);
  }

  #unicode(): number {
    if (!this.#takes("{")) {
      const first = this.#hex(4);
      const isHigh = first >= 0xd800 && first <= 0xdbff;
      if (!isHigh || !(this.#takes("\\") && this.#takes("u"))) return first;
      const second = this.#hex(4);
      const isLow = second >= 0xdc00 && second <= 0xdfff;
      return isLow ? 0x10000 + (first - 0xd800) * 0x400 + (second - 0xdc00) : first;
    }
    let digits = "";
    while (!this.#takes("}")) digits += this.#take();
    if (!/^[0-9a-fA-F]{1,6}$/.test(digits)) throw this.#invalid("\\u{} needs one to six hexadecimal digits");
    return parseInt(digits, 16);
  }

  #hex(count: number): number {
    const digits = Array.from({ length: count }, () => this.#take()).join("");
    if (!/^[0-9a-fA-F]+$/.test(digits)) throw this.#invalid(`${digits} are no hexadecimal digits`);
    return parseInt(digits, 16);
  }

  #code(point: number): CharSet {
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw this.#invalid(`${point.toString(16)} is the code of no character`);
    }
    return normalized([[point, point]]);
  }

  #single(one: string): CharSet {
    return this.#code(codePoint(one));
  }

  #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #take(): string {
    const next = this.#characters[this.#at++];
    if (next === undefined) throw this.#invalid("it ends too early");
    return next;
  }

  #takes(expected: string): boolean {
    if (this.#peek() !== expected) return false;
    this.#at += 1;
    return true;
  }

  #expect(expected: string): void {
    if (!this.#takes(expected)) throw this.#invalid(`${expected} is missing`);
  }

  #invalid(reason: string): ChorusError {
    const message = `${this.#param} is not a valid regular expression: ${reason} (at character ${this.#at}).`;
    return new ChorusError("invalid_value", message, this.#param);
  }

  #unsupported(what: string): ChorusError {
    const message = `${this.#param} has ${what} at character ${this.#at}, which is not supported; write it without.`;
    return new ChorusError("unsupported_parameter", message, this.#param);
  }
}
