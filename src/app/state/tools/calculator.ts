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

type Operator = readonly [rank: number, compute: (a: Value, b: Value) => Value];

/** An operator of a higher rank is computed first, and of the same rank the left one. */
const OPERATORS: Readonly<Record<string, Operator>> = {
  "+": [1, ([n, d], [n2, d2]) => reduced(n * d2 + n2 * d, d * d2)],
  "-": [1, ([n, d], [n2, d2]) => reduced(n * d2 - n2 * d, d * d2)],
  "*": [2, ([n, d], [n2, d2]) => reduced(n * n2, d * d2)],
  "/": [2, ([n, d], [n2, d2]) => reduced(n * d2, d * divisor(n2))],
  "%": [2, ([n, d], [n2, d2]) => reduced(remainder(n * d2, divisor(n2) * d), d * d2)],
  "^": [4, raised],
};
const NONE: Operator = [-1, (a) => a];
/** A sign is applied after "^", whose exponent may have one, too. So "^" is computed from the right. */
const SIGN_RANK = 3;

/** Computes numbers, + - * / ^ parentheses and % (the remainder). @throws ChorusError that says what is wrong, and where */
export function calculate(expression: string): string {
  if (expression.length > MAX_LENGTH) throw wrong(`The expression has more than ${MAX_LENGTH} characters.`);
  const plain = expression.replaceAll("**", "^").replaceAll(/[×·]/g, "*").replaceAll("÷", "/").replaceAll("−", "-");
  const tokens = plain.match(/\d+(?:\.\d*)?|\.\d+|\S/g) ?? [];
  let at = 0;

  const unexpected = () => {
    const next = tokens[at];
    if (next === undefined) return wrong("The expression ends too early.");
    return wrong(`${JSON.stringify(next)} can't stand after ${JSON.stringify(tokens.slice(0, at).join(" "))}.`);
  };
  /** Reads as far as operators have at least this rank. */
  const read = (least: number): Value => {
    let value = readOperand();
    for (;;) {
      const [rank, compute] = OPERATORS[tokens[at] ?? ""] ?? NONE;
      if (rank < least) return value;
      at++;
      value = compute(value, read(rank > SIGN_RANK ? SIGN_RANK : rank + 1));
    }
  };
  const readOperand = (): Value => {
    const token = tokens[at] ?? "";
    if (!/^(?:[-+(]|\.?\d)/.test(token)) throw unexpected();
    at++;
    if (token === "+") return read(SIGN_RANK);
    if (token === "-") {
      const [n, d] = read(SIGN_RANK);
      return [-n, d];
    }
    if (token === "(") {
      const value = read(0);
      if (tokens[at] !== ")") throw unexpected();
      at++;
      return value;
    }
    const [whole = "", decimals = ""] = token.split(".");
    return reduced(BigInt(whole + decimals), 10n ** BigInt(decimals.length));
  };

  const value = read(0);
  if (at < tokens.length) throw unexpected();
  return written(value);
}

function raised([n, d]: Value, [exponent, denominator]: Value): Value {
  if (denominator !== 1n) throw wrong("An exponent must be a whole number.");
  const times = exponent < 0n ? -exponent : exponent;
  const digits = Math.max(String(n).length, String(d).length);
  const isUnit = (n === 0n || n === 1n || n === -1n) && d === 1n;
  if (!isUnit && times * BigInt(digits - 1 || 1) > 4 * MAX_DIGITS) throw tooLarge();
  const power = isUnit ? (times % 2n) + (times === 0n ? 0n : 2n) : times;
  if (exponent >= 0n) return reduced(n ** power, d ** power);
  return reduced(d ** power, divisor(n) ** power);
}

function divisor(n: bigint): bigint {
  if (n === 0n) throw wrong("Division by zero.");
  return n;
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
