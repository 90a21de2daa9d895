// Grammars as text, in the notation of xgrammar and llama.cpp: name ::= "text" [a-z]+ (other | ""){2,3} # comment

import { ChorusError } from "../protocol/errors.ts";
import { charSetOf, type CharSet } from "./char-set.ts";
import {
  character,
  choice,
  mayBeEmpty,
  partsOf,
  repeat,
  rule,
  rulesWhere,
  sequence,
  text,
  type Expression,
  type Rules,
} from "./expression.ts";
import { CONTROL_ESCAPES, NotationParser } from "./notation-parser.ts";

const NAME = /[A-Za-z_][\w.-]*/y;
const DIGITS_OF: Readonly<Record<string, number>> = { x: 2, u: 4, U: 8 };

/** @param known rules that it may refer to @throws ChorusError invalid_value, saying what is wrong and in which line */
export function parseEbnf(source: string, param: string, known: Rules = new Map()): Rules {
  return new EbnfParser(source, param).rules(known);
}

class EbnfParser extends NotationParser {
  protected readonly repetition = /[*+?]|\{\s*\d+\s*(?:,\s*\d*\s*)?\}/y;
  protected readonly forbiddenInClass = "\n";
  readonly #param: string;
  readonly #used = new Set<string>();

  constructor(source: string, param: string) {
    super(source);
    this.#param = param;
  }

  rules(known: Rules): Rules {
    const found = new Map<string, Expression>(known);
    while (this.#skip() !== "") {
      const name = this.match(NAME);
      if (name === "" || !this.takes("::="))
        throw this.invalid('a rule must begin with its name and ::=, as root ::= "a"');
      if (found.has(name)) throw this.invalid(`the rule ${name} is there twice`);
      found.set(name, withoutLeftRecursion(name, this.choice()));
    }
    const missing = ["root", ...this.#used].find((name) => !found.has(name));
    if (missing !== undefined) throw this.invalid(`the rule "${missing}" is missing`);
    const loop = leftRecursive(found);
    if (loop !== undefined)
      throw this.invalid(`the rule "${loop}" begins with itself, by way of others; write a repetition`);
    return found;
  }

  protected endsHere(): boolean {
    const next = this.#skip();
    if (next === "" || next === "|" || next === ")") return true;
    const before = this.at;
    const isRuleNext = this.match(NAME) !== "" && this.takes("::=");
    this.at = before;
    return isRuleNext;
  }

  protected atom(): Expression {
    if (this.takes("(")) {
      if (this.takes("=")) throw this.invalid("(= ...) looks ahead, which is not supported");
      const body = this.choice();
      if (!this.takes(")")) throw this.invalid(") is missing");
      return body;
    }
    if (this.takes('"')) return this.#text();
    if (this.takes("[")) return character(this.characterClass());
    const token = this.match(/<\[\d{1,7}\]>/y);
    if (token !== "") return { kind: "token", id: Number(token.slice(2, -2)) };
    const name = this.match(NAME);
    if (name === "") throw this.invalid(`${this.one()} has nothing that it belongs to`);
    this.#used.add(name);
    return rule(name);
  }

  #text(): Expression {
    let value = "";
    for (let next = this.one(); next !== '"'; next = this.one()) {
      if (next === "" || next === "\n") throw this.invalid("Unterminated text");
      value += next === "\\" ? this.#escape() : next;
    }
    return text(value);
  }

  protected escapeInClass(): CharSet {
    return charSetOf(this.#escape());
  }

  #escape(): string {
    const letter = this.one();
    const count = DIGITS_OF[letter];
    if (count === undefined) return CONTROL_ESCAPES[letter] ?? letter;
    const [[point] = [0]] = this.code(this.hex(count));
    return String.fromCodePoint(point);
  }

  /** Skips white space and comments. Returns the next character; "" at the end. */
  #skip(): string {
    this.match(/(?:\s|#[^\n]*)+/y);
    return this.source.charAt(this.at);
  }

  protected override takes(expected: string): boolean {
    this.#skip();
    return super.takes(expected);
  }

  protected invalid(reason: string): ChorusError {
    const line = this.source.slice(0, this.at).split("\n").length;
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
