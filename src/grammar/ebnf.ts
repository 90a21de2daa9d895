// Grammars as text, in the notation of xgrammar and llama.cpp: name ::= "text" [a-z]+ (other | ""){2,3} # comment

import { ChorusError } from "../protocol/errors.ts";
import { codePoint, complement, normalized, union, type CharSet } from "./char-set.ts";
import {
  character,
  choice,
  mayBeEmpty,
  NOTHING,
  partsOf,
  repeat,
  rule,
  rulesWhere,
  sequence,
  text,
  type Expression,
  type Rules,
} from "./expression.ts";

const MAX_REPEAT = 10_000;
const MAX_DEPTH = 64;
const ESCAPES: Readonly<Record<string, string>> = { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", v: "\v", "0": "\0" };
const NAME = /[A-Za-z_][\w.-]*/y;
const DIGITS_OF: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/**
 * @param known rules that it may refer to
 * @throws ChorusError invalid_value, saying what is wrong and in which line
 */
export function parseEbnf(source: string, param: string, known: Rules = new Map()): Rules {
  return new EbnfParser(source, param).rules(known);
}

class EbnfParser {
  readonly #source: string;
  readonly #param: string;
  #at = 0;
  #depth = 0;

  constructor(source: string, param: string) {
    this.#source = source;
    this.#param = param;
  }

  rules(known: Rules): Rules {
    const found = new Map<string, Expression>(known);
    const used = new Set<string>();
    while (this.#skip() !== "") {
      const name = this.#match(NAME);
      if (name === "" || !this.#takes("::="))
        throw this.#invalid('a rule must begin with its name and ::=, as root ::= "a"');
      if (found.has(name)) throw this.#invalid(`the rule ${name} is there twice`);
      found.set(name, withoutLeftRecursion(name, this.#choice(used)));
    }
    if (!found.has("root")) throw this.#invalid('the rule "root" is missing');
    const missing = [...used].find((name) => !found.has(name));
    if (missing !== undefined) throw this.#invalid(`the rule "${missing}" is missing`);
    const loop = leftRecursive(found);
    if (loop !== undefined)
      throw this.#invalid(`the rule "${loop}" begins with itself, by way of others; write a repetition`);
    return found;
  }

  #choice(used: Set<string>): Expression {
    if (++this.#depth > MAX_DEPTH) throw this.#invalid(`groups are nested more than ${MAX_DEPTH} deep`);
    const options = [this.#sequence(used)];
    while (this.#takes("|")) options.push(this.#sequence(used));
    this.#depth -= 1;
    return options.length === 1 ? (options[0] ?? NOTHING) : choice(...options);
  }

  #sequence(used: Set<string>): Expression {
    const parts: Expression[] = [];
    for (;;) {
      const next = this.#skip();
      if (next === "" || next === "|" || next === ")" || this.#isRuleNext()) return sequence(...parts);
      parts.push(this.#repeated(this.#atom(next, used)));
    }
  }

  #isRuleNext(): boolean {
    const before = this.#at;
    const isRule = this.#match(NAME) !== "" && this.#takes("::=");
    this.#at = before;
    return isRule;
  }

  #atom(next: string, used: Set<string>): Expression {
    if (this.#takes("(")) {
      if (this.#takes("=")) throw this.#invalid("(= ...) looks ahead, which is not supported");
      const body = this.#choice(used);
      if (!this.#takes(")")) throw this.#invalid(") is missing");
      return body;
    }
    if (this.#takes('"')) return this.#text();
    if (this.#takes("[")) return character(this.#class());
    const token = this.#match(/<\[\d{1,7}\]>/y);
    if (token !== "") return { kind: "token", id: Number(token.slice(2, -2)) };
    const name = this.#match(NAME);
    if (name === "") throw this.#invalid(`${next} has nothing that it belongs to`);
    used.add(name);
    return rule(name);
  }

  #repeated(atom: Expression): Expression {
    if (this.#takes("*")) return repeat(atom, 0, Infinity);
    if (this.#takes("+")) return repeat(atom, 1, Infinity);
    if (this.#takes("?")) return repeat(atom, 0, 1);
    const bounds = this.#match(/\{\s*\d+\s*(?:,\s*\d*\s*)?\}/y);
    if (bounds === "") return atom;
    const [min = 0, most] = bounds
      .slice(1, -1)
      .split(",")
      .map((part) => (part.trim() === "" ? Infinity : Number(part)));
    const max = most ?? min;
    if (min > max || [min, max].some((count) => count !== Infinity && count > MAX_REPEAT)) {
      throw this.#invalid(`${bounds} must be in order, and at most ${MAX_REPEAT}`);
    }
    return repeat(atom, min, max);
  }

  #text(): Expression {
    let value = "";
    for (let next = this.#one(); next !== '"'; next = this.#one()) {
      if (next === "" || next === "\n") throw this.#invalid("Unterminated text");
      value += next === "\\" ? this.#escape() : next;
    }
    return text(value);
  }

  #class(): CharSet {
    const isNegated = this.#source[this.#at] === "^";
    if (isNegated) this.#at += 1;
    let set: CharSet = [];
    for (let next = this.#member(); next !== null; next = this.#member()) {
      const isRange = this.#source[this.#at] === "-" && this.#source[this.#at + 1] !== "]";
      if (isRange) this.#at += 1;
      const last = isRange ? (this.#member() ?? next) : next;
      if (last < next) throw this.#invalid("a range in [] is out of order");
      set = union(set, normalized([[next, last]]));
    }
    return isNegated ? complement(set) : set;
  }

  /** Returns a code point of a class; null at its end. */
  #member(): number | null {
    const next = this.#one();
    if (next === "" || next === "\n") throw this.#invalid("Unterminated character class");
    if (next === "]") return null;
    return codePoint(next === "\\" ? this.#escape() : next);
  }

  #escape(): string {
    const letter = this.#one();
    const count = DIGITS_OF[letter];
    if (count === undefined) return ESCAPES[letter] ?? letter;
    const digits = this.#source.slice(this.#at, this.#at + count);
    const code = /^[0-9a-fA-F]+$/.test(digits) && digits.length === count ? parseInt(digits, 16) : Infinity;
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff))
      throw this.#invalid(`\\${letter}${digits} is no character`);
    this.#at += count;
    return String.fromCodePoint(code);
  }

  /** Skips white space and comments. Returns the next character; "" at the end. */
  #skip(): string {
    this.#match(/(?:\s|#[^\n]*)+/y);
    return this.#source[this.#at] ?? "";
  }

  #takes(expected: string): boolean {
    this.#skip();
    if (!this.#source.startsWith(expected, this.#at)) return false;
    this.#at += expected.length;
    return true;
  }

  #one(): string {
    const next = this.#source.codePointAt(this.#at);
    if (next === undefined) return "";
    const found = String.fromCodePoint(next);
    this.#at += found.length;
    return found;
  }

  #match(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #invalid(reason: string): ChorusError {
    const line = this.#source.slice(0, this.#at).split("\n").length;
    const message = `${this.#param} is not a valid grammar: ${reason} (line ${line}).`;
    return new ChorusError("invalid_value", message, this.#param);
  }
}

/** Writes a ::= a "x" | "y" as a ::= "y" "x"*: a machine would never come to a's beginning. */
function withoutLeftRecursion(name: string, body: Expression): Expression {
  const options = body.kind === "choice" ? body.options : [body];
  const restOf = (option: Expression) =>
    option.kind === "sequence" && option.parts[0]?.kind === "rule" && option.parts[0].name === name
      ? sequence(...option.parts.slice(1))
      : null;
  const rests = options.flatMap((option) => restOf(option) ?? []);
  if (rests.length === 0) return body;
  return sequence(
    choice(...options.filter((option) => restOf(option) === null)),
    repeat(choice(...rests), 0, Infinity),
  );
}

/** Returns a rule that begins with itself. */
function leftRecursive(rules: Rules): string | undefined {
  const empty = rulesWhere(rules, mayBeEmpty);
  const beginnings = (one: Expression): string[] => {
    if (one.kind === "rule") return [one.name];
    const parts = partsOf(one);
    const end = one.kind === "sequence" ? parts.findIndex((part) => !mayBeEmpty(part, empty)) : -1;
    return parts.slice(0, end === -1 ? undefined : end + 1).flatMap(beginnings);
  };
  const starts = new Map([...rules].map(([name, body]) => [name, new Set(beginnings(body))]));
  return [...starts.keys()].find((name) => {
    const seen = new Set(starts.get(name));
    for (const next of seen) for (const further of starts.get(next) ?? []) seen.add(further);
    return seen.has(name);
  });
}
