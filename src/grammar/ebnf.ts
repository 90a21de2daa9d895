// Grammars as text, in xgrammar's notation.

import type { CharSet } from "./char-set.ts";
import type { Expression, Rules } from "./expression.ts";
import { utf8Sequences, type ByteRange } from "./utf8.ts";

export function toEbnf(rules: Rules): string {
  return new EbnfWriter().write(rules);
}

/**
 * xgrammar computes beforehand, for each token and each position in a rule, whether the token is allowed there. Longer
 * repetitions are composed of shorter ones, to keep the number of positions small.
 */
const PIECE = 32;

class EbnfWriter {
  /** Names of generated rules, by their text. */
  readonly #made = new Map<string, string>();

  write(rules: Rules): string {
    const lines = [...rules].map(([name, body]) => `${name} ::= ${this.#expression(body)}`);
    return [...lines, ...[...this.#made].map(([body, name]) => `${name} ::= ${body}`)].join("\n");
  }

  #expression(expression: Expression): string {
    switch (expression.kind) {
      case "text":
        return `"${Array.from(expression.text, escape).join("")}"`;
      case "character":
        return oneOf(expression.set);
      case "sequence": {
        const parts = expression.parts.filter((part) => part.kind !== "text" || part.text !== "");
        return parts.length === 0
          ? '""'
          : grouped(
              parts.map((part) => this.#expression(part)),
              " ",
            );
      }
      case "choice":
        return grouped(
          expression.options.map((option) => this.#expression(option)),
          " | ",
        );
      case "repeat":
        return this.#repeat(this.#expression(expression.of), expression.min, expression.max);
      case "rule":
        return expression.name;
    }
  }

  #repeat(body: string, min: number, max: number): string {
    if (max === Infinity) return grouped([...this.#exactly(body, min), `(${body})*`], " ");
    if (max === 1) return min === 1 ? body : `(${body})?`;
    const parts = [...this.#exactly(body, min), ...(max > min ? [this.#atMost(body, max - min)] : [])];
    return parts.length === 0 ? '""' : grouped(parts, " ");
  }

  #exactly(body: string, count: number): string[] {
    const name = this.#rule(body);
    const rest = count % PIECE;
    const pieces = Math.floor(count / PIECE);
    const piece = pieces > 0 ? this.#rule(`${name}{${PIECE},${PIECE}}`) : "";
    return [...Array.from({ length: pieces }, () => piece), ...(rest > 0 ? [`${name}{${rest},${rest}}`] : [])];
  }

  #atMost(body: string, count: number): string {
    const name = this.#rule(body);
    const rest = count % PIECE;
    let all = rest === 0 ? "" : this.#rule(`${name}{0,${rest}}`); // xgrammar misreads {0,0}
    if (count < PIECE) return all;
    const piece = this.#rule(`${name}{${PIECE},${PIECE}}`);
    const less = this.#rule(`${name}{0,${PIECE - 1}}`);
    for (let left = rest; left < count; left += PIECE) all = this.#rule(`${less} | ${piece} ${all}`.trimEnd());
    return all;
  }

  #rule(body: string): string {
    if (/^\w+$/.test(body)) return body;
    const name = this.#made.get(body) ?? `part${this.#made.size}`;
    this.#made.set(body, name);
    return name;
  }
}

function oneOf(set: CharSet): string {
  const ascii = set.filter(([, last]) => last <= 0x7f).map((range) => classMember(range));
  if (ascii.length === set.length) return `[${ascii.join("")}]`;
  const sequences = utf8Sequences(set).map((bytes) => bytes.map((range) => `[${classMember(range)}]`).join(" "));
  return grouped(sequences, " | ");
}

/**
 * Writes a range of a class. xgrammar reads a class as one of bytes only if it has several members, so a single byte beyond
 * ASCII is written twice.
 */
function classMember([first, last]: ByteRange): string {
  return first === last ? code(first).repeat(2) : `${code(first)}-${code(last)}`;
}

function grouped(parts: readonly string[], separator: string): string {
  return parts.length === 1 ? parts.join("") : `(${parts.join(separator)})`;
}

function escape(character: string): string {
  return /[ !#-[\]-~]/.test(character) ? character : code(character.codePointAt(0) ?? 0);
}

function code(point: number): string {
  return point > 0xffff ? `\\U${point.toString(16).padStart(8, "0")}` : `\\u${point.toString(16).padStart(4, "0")}`;
}
