import type { ChorusError } from "../protocol/errors.ts";
import { codePoint, complement, normalized, union, type CharSet } from "./char-set.ts";
import { choice, repeat, sequence, type Expression } from "./expression.ts";

const MAX_REPEAT = 10_000;
const MAX_DEPTH = 64;

export const CONTROL_ESCAPES: Readonly<Record<string, string>> = {
  n: "\n",
  t: "\t",
  r: "\r",
  b: "\b",
  f: "\f",
  v: "\v",
  "0": "\0",
};

/** What notations have in common: choices, sequences, repetitions, classes of characters and their codes. */
export abstract class NotationParser {
  protected readonly source: string;
  protected at = 0;
  #depth = 0;

  constructor(source: string) {
    this.source = source;
  }

  /** Matches how often what stands before it comes. */
  protected abstract readonly repetition: RegExp;
  /** Must be escaped in classes. */
  protected abstract readonly forbiddenInClass: string;
  protected abstract endsHere(): boolean;
  protected abstract atom(): Expression;
  /** Reads an escape in a class, behind its backslash. */
  protected abstract escapeInClass(): CharSet;
  protected abstract invalid(reason: string): ChorusError;

  protected choice(): Expression {
    if (++this.#depth > MAX_DEPTH) throw this.invalid(`groups are nested more than ${MAX_DEPTH} deep`);
    const options = [this.sequence()];
    while (this.takes("|")) options.push(this.sequence());
    this.#depth -= 1;
    return choice(...options);
  }

  protected sequence(): Expression {
    const parts: Expression[] = [];
    while (!this.endsHere()) parts.push(this.#repeated(this.atom()));
    return sequence(...parts);
  }

  #repeated(atom: Expression): Expression {
    const found = this.match(this.repetition);
    if (found === "") return atom;
    const [, least = "", comma = "", most = ""] = /(\d+)\s*(,?)\s*(\d*)/.exec(found) ?? [];
    const signs: Readonly<Record<string, number[]>> = { "*": [0, Infinity], "+": [1, Infinity], "?": [0, 1] };
    const max = comma === "" ? Number(least) : most === "" ? Infinity : Number(most);
    const bounds = signs[found.charAt(0)] ?? [Number(least), max];
    const isTooMany = bounds.some((count) => count !== Infinity && count > MAX_REPEAT);
    const [from = 0, to = 0] = bounds;
    if (from > to || isTooMany) throw this.invalid(`${found} must be in order, and at most ${MAX_REPEAT}`);
    return repeat(atom, from, to);
  }

  /** Reads a class, behind its bracket. */
  protected characterClass(): CharSet {
    const isNegated = this.match(/\^/y) !== "";
    let set: CharSet = [];
    for (let first = this.#member(); first !== null; first = this.#member()) {
      const last = this.match(/-(?!\])/y) === "" ? null : this.#member();
      set = union(set, last === null ? first : this.#range(first, last));
    }
    return isNegated ? complement(set) : set;
  }

  /** Returns null at a class's end. */
  #member(): CharSet | null {
    const next = this.one();
    if (next === "") throw this.invalid("Unterminated character class");
    if (next === this.forbiddenInClass)
      throw this.invalid(`a class has ${JSON.stringify(next)}; write an escape for it`);
    if (next === "]") return null;
    return next === "\\" ? this.escapeInClass() : this.code(codePoint(next));
  }

  #range([first = [0, 1]]: CharSet, [last = [0, 1]]: CharSet): CharSet {
    const isOne = first[0] === first[1] && last[0] === last[1];
    if (isOne && first[0] <= last[0]) return normalized([[first[0], last[0]]]);
    throw this.invalid("a range in [] is out of order, or not between characters");
  }

  protected hex(count: number): number {
    const digits = this.match(new RegExp(`[0-9a-fA-F]{${count}}`, "y"));
    if (digits === "") throw this.invalid(`${count} hexadecimal digits are missing`);
    return parseInt(digits, 16);
  }

  protected code(point: number): CharSet {
    if (point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
      throw this.invalid(`${point.toString(16)} is the code of no character`);
    }
    return normalized([[point, point]]);
  }

  /** Reads a character; "" at the end. */
  protected one(): string {
    return this.match(/./suy);
  }

  protected takes(expected: string): boolean {
    if (!this.source.startsWith(expected, this.at)) return false;
    this.at += expected.length;
    return true;
  }

  /** Returns what matches here; "" if nothing does. */
  protected match(pattern: RegExp): string {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source)?.[0] ?? "";
    this.at += found.length;
    return found;
  }
}
