// Numbers as JSON writes them, within bounds. A bound is a language, too: the texts of all numbers beyond it.

import { Automaton } from "./automaton.ts";
import { normalized } from "./char-set.ts";
import {
  character,
  choice,
  IMPOSSIBLE,
  NOTHING,
  optional,
  repeat,
  sequence,
  text,
  type Expression,
} from "./expression.ts";
import { parseRegex } from "./regex.ts";

export interface NumberBounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly exclusiveMinimum: number;
  readonly exclusiveMaximum: number;
}

/** Beyond a bound, numbers are larger (1) or smaller (-1). */
type Side = 1 | -1;

/** All decimals of so many digits are read as different doubles. */
const EXACT_DIGITS = 15;
/** Enough digits to distinguish all doubles. */
const MAX_DIGITS = 17;
/** Digits before the point: larger numbers are written with an exponent, as JavaScript does. */
const MAX_WHOLE = 21;
const LEAST_LARGE = 10 ** MAX_WHOLE;
/** Zeros between the point and the first other digit. */
const MAX_ZEROS = 16;
/** Exponents of ten, as in e+21: those that JavaScript writes, and the others. */
const LARGE = "\\+?(?:2[1-9]|[3-9][0-9]|[1-9][0-9]{2})";
const SMALL = "-(?:[7-9]|[1-9][0-9]|[12][0-9]{2}|3[01][0-9]|32[0-4])";
const OTHERS = "\\+?(?:[0-9]|1[0-9]|20)|-[1-6]";

const [ZERO, NOT_ZERO, DIGIT] = [digit(0, 0), digit(1, 9), digit(0, 9)];
const DIGITS = repeat(DIGIT, 0, Infinity);
const POINT = text(".");
const FRACTION = optional(sequence(POINT, DIGITS));
const MINUS = text("-");
const PLUS = optional(text("+"));
const E = choice(text("e"), text("E"));
const ANY = sequence(DIGIT, repeat(choice(DIGIT, POINT, E, PLUS, MINUS), 0, Infinity));

/**
 * Returns the numbers within bounds, of at most 17 digits. Reading decimals as doubles keeps their order, so bounds that are
 * doubles hold afterwards too.
 * @param isExact whether no two of them may be read as the same double: they have at most 15 digits, and no exponent
 */
export function numbersWithin(bounds: NumberBounds, isInteger: boolean, isExact = false): Automaton {
  const largest = isInteger && isExact ? Number.MAX_SAFE_INTEGER : Number.MAX_VALUE;
  const low = Math.max(-largest, bounds.minimum, doubleAfter(bounds.exclusiveMinimum));
  const high = Math.min(largest, bounds.maximum, -doubleAfter(-bounds.exclusiveMaximum));
  if (low > high) return Automaton.of(IMPOSSIBLE);
  const isFree = low === -largest && high === largest;
  return Automaton.remembered(`number ${low} ${high} ${isInteger} ${isExact}`, () => {
    const form = isInteger ? integers(isExact) : decimals(isExact, isFree);
    return Automaton.inAll([Automaton.of(form), beyond(low, 1), beyond(high, -1)]);
  });
}

/** Returns all ways to write a number. */
export function equalTo(value: number): Automaton {
  return Automaton.inAll([beyond(value, 1), beyond(value, -1)]);
}

function beyond(bound: number, side: Side): Automaton {
  return Automaton.remembered(`beyond ${bound} ${side}`, () => Automaton.of(signed(bound, side, withPowers)));
}

function integers(isExact: boolean): Expression {
  const plain = sequence(optional(MINUS), NOT_ZERO, repeat(DIGIT, 0, MAX_WHOLE - 1));
  return choice(ZERO, plain, ...(isExact ? [] : [power(LARGE)]));
}

/** @param isFree whether all numbers may have an exponent: beside bounds, only those do that JavaScript writes so */
function decimals(isExact: boolean, isFree: boolean): Expression {
  const [digits, whole] = isExact ? [EXACT_DIGITS, EXACT_DIGITS] : [MAX_DIGITS, MAX_WHOLE];
  let rest = fraction(digits - whole);
  for (let count = whole - 1; count > 0; count--) rest = choice(fraction(digits - count), sequence(DIGIT, rest));
  const begun = sequence(ZERO, POINT);
  const small = sequence(begun, repeat(ZERO, 0, MAX_ZEROS), NOT_ZERO, upTo(digits - 1));
  return choice(
    ZERO,
    sequence(begun, repeat(ZERO, 1, MAX_ZEROS)),
    sequence(optional(MINUS), choice(sequence(NOT_ZERO, rest), small)),
    ...(isExact ? [] : [power(LARGE, SMALL, ...(isFree ? [OTHERS] : []))]),
  );
}

function power(...exponents: readonly string[]): Expression {
  return sequence(optional(MINUS), NOT_ZERO, fraction(MAX_DIGITS - 1), E, parseRegex(exponents.join("|"), "exponents"));
}

function fraction(digits: number): Expression {
  return digits > 0 ? optional(sequence(POINT, DIGIT, upTo(digits - 1))) : NOTHING;
}

const KNOWN = [NOTHING];

/** Returns at most so many digits: the same expression each time, so that automata share its states. */
function upTo(digits: number): Expression {
  return (KNOWN[digits] ??= choice(NOTHING, sequence(DIGIT, upTo(digits - 1))));
}

/**
 * Returns texts among which the numbers are those from a bound on.
 * @param unsigned does so for bounds that are not negative
 */
function signed(bound: number, side: Side, unsigned: (bound: number, side: Side) => Expression): Expression {
  const [sign, other] = side > 0 ? [PLUS, MINUS] : [MINUS, PLUS];
  if (side * bound > 0) return sequence(sign, unsigned(Math.abs(bound), 1));
  return choice(sequence(sign, ANY), sequence(other, unsigned(Math.abs(bound), -1)));
}

function withPowers(bound: number, side: Side): Expression {
  // Plain numbers are smaller than large bounds, however many digits those have.
  const plain = withoutPowers(decimalOf(Math.min(bound, LEAST_LARGE)), side);
  if (bound === 0) return plain;
  const [mantissa = "", exponent] = bound.toExponential().split("e");
  const powers = (least: number) =>
    sequence(
      E,
      signed(least, side, (one, onwards) => withoutPowers(decimalOf(one), onwards)),
    );
  return choice(
    plain,
    sequence(withoutPowers({ digits: mantissa.replace(".", ""), point: 1 }, side), powers(Number(exponent))),
    sequence(DIGIT, FRACTION, powers(Number(exponent) + side)),
  );
}

/** Compares digit by digit with the bound: as soon as one differs, any others may follow. */
function withoutPowers({ digits, point }: Decimal, side: Side): Expression {
  const isWhole = digits.length === point;
  const equal = Array.from(isWhole ? `${digits}0` : digits).reduceRight<Expression>(
    (rest, one, at) => {
      const differing = side > 0 ? digit(Number(one) + 1, 9) : digit(0, Number(one) - 1);
      const left = point - at - 1;
      const others = left >= 0 ? sequence(repeat(DIGIT, left, left), FRACTION) : DIGITS;
      const both = choice(sequence(differing, others), sequence(text(one), rest));
      if (at < point) return both;
      const behind = at === point ? sequence(POINT, both) : both;
      return side < 0 || isWhole ? optional(behind) : behind;
    },
    side > 0 ? DIGITS : repeat(ZERO, 0, Infinity),
  );
  const [least, most] = side > 0 ? [point + 1, Infinity] : [1, point - 1];
  return choice(equal, sequence(repeat(DIGIT, least, most), FRACTION));
}

function digit(first: number, last: number): Expression {
  return character(normalized([[0x30 + first, 0x30 + last]]));
}

interface Decimal {
  readonly digits: string;
  readonly point: number;
}

/** Returns the digits of a double's shortest decimal, without a point. */
function decimalOf(value: number): Decimal {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", behindPoint = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const digits = `${whole}${behindPoint}`.padEnd(point, "0");
  return point > 0 ? { digits, point } : { digits: "0".repeat(1 - point) + digits, point: 1 };
}

function doubleAfter(value: number): number {
  if (!Number.isFinite(value)) return value;
  const double = new Float64Array([value + 0]); // -0 becomes 0
  const bits = new BigInt64Array(double.buffer);
  bits[0] = (bits[0] ?? 0n) + (value < 0 ? -1n : 1n);
  return double[0] ?? NaN;
}
