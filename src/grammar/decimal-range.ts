// Numbers as JSON writes them, within bounds.

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

interface NumberBounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly exclusiveMinimum: number;
  readonly exclusiveMaximum: number;
}

/** Limits of a number's digits. `zeros` is -1 for a number without a point. */
interface Form {
  /** Most digits, without leading zeros; whole numbers may have more, see `whole`. */
  readonly digits: number;
  /** Most digits before the point. */
  readonly whole: number;
  /** Most zeros between the point and the first other digit. */
  readonly zeros: number;
}

/** All decimals of so many digits are read as different doubles. */
const EXACT_DIGITS = 15;
/** Enough digits to distinguish all doubles. */
const MAX_DIGITS = 17;
/** Digits before the point: larger numbers are written with an exponent, as JavaScript does. */
const MAX_WHOLE = 21;
const INTEGER: Form = { digits: MAX_WHOLE, whole: MAX_WHOLE, zeros: -1 };
const LEAST_LARGE = 1e21;
/** Smaller ones are written with an exponent. */
const LARGEST_SMALL = -doubleAfter(-1e-6);

/** Returns the whole numbers within bounds. @param isExact whether no two of them may be read as the same double */
export function integersWithin(bounds: NumberBounds, isExact = false): Expression[] {
  const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number;
  if (!isExact) return within(bounds, INTEGER, [[LEAST_LARGE, Number.MAX_VALUE]]);
  return within(
    { ...bounds, minimum: Math.max(bounds.minimum, least), maximum: Math.min(bounds.maximum, most) },
    INTEGER,
  );
}

/**
 * Returns the numbers within bounds, of at most 17 digits. Reading decimals as doubles keeps their order, so bounds that are
 * doubles hold afterwards too.
 * @param isExact whether no two of them may be read as the same double: they have at most 15 digits, and no exponent
 */
export function numbersWithin(bounds: NumberBounds, isExact = false): Expression[] {
  if (isExact) return within(bounds, { digits: EXACT_DIGITS, whole: EXACT_DIGITS, zeros: 16 });
  const all = [Number.MIN_VALUE, Number.MAX_VALUE] as const;
  const hasBounds = Object.values(bounds).some(Number.isFinite);
  const powers = hasBounds
    ? ([
        [all[0], LARGEST_SMALL],
        [LEAST_LARGE, all[1]],
      ] as const)
    : [all];
  return within(bounds, { digits: MAX_DIGITS, whole: MAX_WHOLE, zeros: 16 }, powers);
}

/** @param powers ranges above 0 in which numbers may have an exponent */
function within(bounds: NumberBounds, form: Form, powers: readonly (readonly [low: number, high: number])[] = []) {
  const low = Math.max(bounds.minimum, doubleAfter(bounds.exclusiveMinimum));
  const high = Math.min(bounds.maximum, -doubleAfter(-bounds.exclusiveMaximum));
  const between = (from: number, to: number) => [
    ...notNegative(from, to, form),
    ...powers.flatMap(([least, most]) => withExponent(Math.max(from, least), Math.min(to, most))),
  ];
  const negative = between(Math.max(-high, Number.MIN_VALUE), -low);
  return [...between(Math.max(low, 0), high), ...negative.map((one) => sequence(text("-"), one))];
}

/** Returns the numbers from `low` to `high`, both above 0, as one digit, decimals and a power of ten. */
function withExponent(low: number, high: number): Expression[] {
  if (low > high) return [];
  const [least, most] = [low, high].map((value) => {
    const [digits = "", exponent] = value.toExponential().split("e");
    return { digits: digits.replace(".", ""), exponent: Number(exponent) };
  }) as [Scientific, Scientific];
  const range = new Range(1, { digits: MAX_DIGITS, whole: 1, zeros: 0 });
  const piece = (from: string, to: string | null, first: number, last: number) =>
    first > last ? [] : [sequence(range.digit(from, to, 0, 0), E, choice(...exponents(first, last)))];
  if (least.exponent === most.exponent) {
    return piece(least.digits, most.digits, least.exponent, least.exponent);
  }
  return [
    ...piece(least.digits, null, least.exponent, least.exponent),
    ...piece("1", null, least.exponent + 1, most.exponent - 1),
    ...piece("1", most.digits, most.exponent, most.exponent),
  ];
}

interface Scientific {
  readonly digits: string;
  readonly exponent: number;
}

function exponents(first: number, last: number): Expression[] {
  return [
    ...notNegative(Math.max(first, 0), last, INTEGER).map((one) => sequence(optional(text("+")), one)),
    ...notNegative(Math.max(-last, 1), -first, INTEGER).map((one) => sequence(text("-"), one)),
  ];
}

/** Returns the numbers from `low` to `high`, by their number of digits before the point. */
function notNegative(low: number, high: number, form: Form): Expression[] {
  if (low > high) return [];
  const [least, most] = [decimalOf(low), high === Infinity ? null : decimalOf(high)];
  const last = Math.min(form.whole, most?.point ?? Infinity);
  const widths = Array.from({ length: Math.max(0, last - least.point + 1) }, (_, i) => least.point + i);
  const inner = form === INTEGER ? widths.filter((point) => point !== least.point && point !== most?.point) : [];
  const [shortest] = inner;
  const between =
    shortest === undefined ? [] : [sequence(digit(1, 9), repeat(ANY_DIGIT, shortest - 1, shortest + inner.length - 2))];
  const others = widths
    .filter((point) => !inner.includes(point))
    .map((point) => {
      const from = point === least.point ? least.digits : null;
      const to = point === most?.point ? most.digits : null;
      return new Range(point, form).digit(from, to, 0, 0);
    });
  return [...others, ...between];
}

/** Numbers with the same number of digits before the point. */
class Range {
  readonly #point: number;
  readonly #form: Form;

  constructor(point: number, form: Form) {
    this.#point = point;
    this.#form = form;
  }

  /**
   * Returns the continuations of numbers that equal the bounds so far.
   * @param low digits of the least number; null for no bound
   * @param high digits of the largest number; null for no bound
   * @param at number of digits so far
   * @param used number of significant digits so far
   */
  digit(low: string | null, high: string | null, at: number, used: number): Expression {
    const first = Number(low?.[at] ?? (at === 0 && this.#point > 1 ? 1 : 0));
    const last = Number(high === null ? 9 : (high[at] ?? 0));
    const options: Expression[] = [];
    const add = (from: number, to: number) => {
      if (from > to) return;
      const nowUsed = used > 0 || to > 0 ? used + 1 : 0;
      const rest = this.#rest(from === first ? low : null, to === last ? high : null, at + 1, nowUsed);
      options.push(sequence(digit(from, to), rest));
    };
    // Leading zeros are not significant, and a number that equals a bound so far must go on within it.
    const cuts = [
      first,
      ...(low === null ? [] : [first + 1]),
      ...(used === 0 ? [1] : []),
      ...(high === null ? [] : [last]),
      last + 1,
    ];
    const starts = [...new Set(cuts)].filter((cut) => cut >= first && cut <= last + 1).toSorted((a, b) => a - b);
    starts.forEach((start, i) => add(start, (starts[i + 1] ?? 0) - 1));
    return options.length === 0 ? IMPOSSIBLE : choice(...options);
  }

  #rest(low: string | null, high: string | null, at: number, used: number): Expression {
    if (low !== null && /^0*$/.test(low.slice(at))) low = null;
    if (low === null && high === null) return this.#anyRest(at, used);
    if (at < this.#point) return this.digit(low, high, at, used);
    const { digits, zeros } = this.#form;
    const decimals = at - this.#point;
    const hasMore = zeros >= 0 && (used === 0 ? decimals <= zeros : used < digits);
    if (!hasMore) return low === null ? NOTHING : IMPOSSIBLE;
    const more = this.digit(low, high, at, used);
    const behind = decimals === 0 ? sequence(text("."), more) : more;
    return low === null ? optional(behind) : behind;
  }

  #anyRest(at: number, used: number): Expression {
    const { digits, zeros } = this.#form;
    const before = Math.max(0, this.#point - at);
    const room = digits - used - before;
    const whole = repeat(ANY_DIGIT, before, before);
    if (zeros < 0 || room <= 0) return whole;
    const decimals = Math.max(0, at - this.#point);
    const point = decimals === 0 ? [text(".")] : [];
    if (used > 0) return sequence(whole, optional(sequence(...point, repeat(ANY_DIGIT, 1, room))));
    const left = zeros - decimals;
    const other = sequence(digit(1, 9), repeat(ANY_DIGIT, 0, digits - 1));
    const only = left > 0 ? [repeat(text("0"), 1, left)] : [];
    return optional(sequence(...point, choice(...only, sequence(repeat(text("0"), 0, Math.max(0, left)), other))));
  }
}

const ANY_DIGIT = digit(0, 9);
const E = choice(text("e"), text("E"));

function digit(first: number, last: number): Expression {
  return first === last ? text(String(first)) : character(normalized([[0x30 + first, 0x30 + last]]));
}

/** Returns the digits of a double's shortest decimal, without a point, and their number before the point. */
export function decimalOf(value: number): { readonly digits: string; readonly point: number } {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", behindPoint = ""] = mantissa.split(".");
  const point = whole.length + Number(exponent);
  const digits = `${whole}${behindPoint}`.padEnd(point, "0");
  return point > 0 ? { digits, point } : { digits: "0".repeat(1 - point) + digits, point: 1 };
}

/** Returns the least double above a finite one. */
function doubleAfter(value: number): number {
  if (!Number.isFinite(value)) return value;
  const double = new Float64Array([value + 0]); // -0 becomes 0
  const bits = new BigInt64Array(double.buffer);
  bits[0] = (bits[0] ?? 0n) + (value < 0 ? -1n : 1n);
  return double[0] ?? NaN;
}
