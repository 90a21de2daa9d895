// Exact arithmetic on fractions of whole numbers without a limit but their length.

import { ChorusError } from "../../../index.ts";

/** Most digits of a number. Longer ones would take seconds. */
const MAX_DIGITS = 1000;
const MAX_LENGTH = 500;
const LIMIT = 10n ** BigInt(MAX_DIGITS);
/** Digits of a value that has no end. */
const SHOWN_DIGITS = 20;

/** A reduced fraction; the denominator is positive. */
type Value = readonly [numerator: bigint, denominator: bigint];

/**
 * Returns what an expression is: numbers, + - * / % ^ and parentheses. "%" is the remainder.
 * @throws ChorusError that says what is wrong, and where
 */
export function calculate(expression: string): string {
  if (expression.length > MAX_LENGTH) throw wrong(`The expression has more than ${MAX_LENGTH} characters.`);
  const tokens = expression
    .replaceAll("**", "^")
    .replaceAll(/[×·]/g, "*")
    .replaceAll("÷", "/")
    .replaceAll("−", "-")
    .match(/\d+(?:\.\d*)?|\.\d+|\S/g);
  const reader = new Reader(tokens ?? []);
  const value = reader.sum();
  if (reader.next !== undefined) throw reader.unexpected();
  return written(value);
}

class Reader {
  readonly #tokens: readonly string[];
  #at = 0;

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens;
  }

  get next(): string | undefined {
    return this.#tokens[this.#at];
  }

  sum(): Value {
    let [n, d] = this.#product();
    for (let sign = this.#take("+", "-"); sign; sign = this.#take("+", "-")) {
      const [n2, d2] = this.#product();
      [n, d] = reduced(sign === "+" ? n * d2 + n2 * d : n * d2 - n2 * d, d * d2);
    }
    return [n, d];
  }

  #product(): Value {
    let value = this.#signed();
    for (let sign = this.#take("*", "/", "%"); sign; sign = this.#take("*", "/", "%")) {
      const [n, d] = value;
      const [n2, d2] = this.#signed();
      if (sign === "*") value = reduced(n * n2, d * d2);
      else if (n2 === 0n) throw wrong("Division by zero.");
      else value = sign === "/" ? reduced(n * d2, d * n2) : reduced(remainder(n * d2, n2 * d), d * d2);
    }
    return value;
  }

  #signed(): Value {
    const sign = this.#take("-", "+");
    if (sign === undefined) return this.#power();
    const [n, d] = this.#signed();
    return sign === "-" ? [-n, d] : [n, d];
  }

  #power(): Value {
    const base = this.#number();
    return this.#take("^") ? raised(base, this.#signed()) : base;
  }

  #number(): Value {
    if (this.#take("(")) {
      const value = this.sum();
      if (!this.#take(")")) throw this.unexpected();
      return value;
    }
    const { next = "" } = this;
    if (!/^\.?\d/.test(next)) throw this.unexpected();
    this.#at++;
    const [whole = "", decimals = ""] = next.split(".");
    return reduced(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  }

  #take(...signs: readonly string[]): string | undefined {
    const sign = signs.find((one) => one === this.next);
    if (sign !== undefined) this.#at++;
    return sign;
  }

  unexpected(): ChorusError {
    const { next } = this;
    if (next === undefined) return wrong("The expression ends too early.");
    return wrong(
      `${JSON.stringify(next)} can't stand after ${JSON.stringify(this.#tokens.slice(0, this.#at).join(" "))}.`,
    );
  }
}

function raised([n, d]: Value, [exponent, denominator]: Value): Value {
  if (denominator !== 1n) throw wrong("An exponent must be a whole number.");
  const times = exponent < 0n ? -exponent : exponent;
  const digits = Math.max(String(n).length, String(d).length);
  const isUnit = (n === 0n || n === 1n || n === -1n) && d === 1n;
  if (!isUnit && times * BigInt(digits - 1 || 1) > 4 * MAX_DIGITS) throw tooLarge();
  const power = isUnit ? (times % 2n) + (times === 0n ? 0n : 2n) : times;
  if (exponent >= 0n) return reduced(n ** power, d ** power);
  if (n === 0n) throw wrong("Division by zero.");
  return reduced(d ** power, n ** power);
}

/** Has the sign of the divisor. */
function remainder(a: bigint, b: bigint): bigint {
  return ((a % b) + b) % b;
}

function reduced(n: bigint, d: bigint): Value {
  let [a, b] = [n < 0n ? -n : n, d < 0n ? -d : d];
  while (b > 0n) [a, b] = [b, a % b];
  const factor = d < 0n ? -a : a;
  const value = [n / factor, d / factor] as const;
  if (value.some((part) => part >= LIMIT || part <= -LIMIT)) throw tooLarge();
  return value;
}

/** As a decimal number if that ends, else as a fraction with about what it is. */
function written([n, d]: Value): string {
  if (d === 1n) return String(n);
  const sign = n < 0n ? "-" : "";
  const size = n < 0n ? -n : n;
  const digits = [2n, 5n].map((prime) => {
    let count = 0;
    for (let rest = d; rest % prime === 0n; rest /= prime) count++;
    return count;
  });
  const places = Math.max(...digits);
  if (10n ** BigInt(places) % d === 0n) return sign + decimal(size, d, places);
  const zeros = Math.max(0, String(d).length - String(size).length);
  return `${n}/${d}, about ${sign}${decimal(size, d, zeros + SHOWN_DIGITS)}`;
}

function decimal(n: bigint, d: bigint, places: number): string {
  const text = String((n * 10n ** BigInt(places)) / d).padStart(places + 1, "0");
  return `${text.slice(0, -places)}.${text.slice(-places)}`;
}

function tooLarge(): ChorusError {
  return wrong(`The result has more than ${MAX_DIGITS} digits.`);
}

function wrong(message: string): ChorusError {
  return new ChorusError("invalid_value", message, "expression");
}
