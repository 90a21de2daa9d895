import { character, choice, IMPOSSIBLE, NOTHING, repeat, sequence, text, type Expression } from "./expression.ts";
import { normalized } from "./char-set.ts";

/** Most digits of a number. A double distinguishes all numbers of this many digits, so bounds hold for doubles as well. */
const MAX_DIGITS = 15;
const LARGEST = 10n ** BigInt(MAX_DIGITS) - 1n;

/** A decimal number: digits * 10^-decimals. */
interface Decimal {
  readonly digits: bigint;
  readonly decimals: number;
}

interface NumberBounds {
  readonly minimum: number;
  readonly maximum: number;
  readonly exclusiveMinimum: number;
  readonly exclusiveMaximum: number;
}

/** Decimals that a number may have in addition to those of its bounds. */
const EXTRA_DECIMALS = 2;
const MAX_DECIMALS = 8;

/** Returns the whole numbers within bounds, of at most 15 digits. */
export function integersWithin(bounds: NumberBounds): Expression {
  return withDecimals(bounds, 0);
}

/**
 * Returns the numbers within bounds, without exponents, with up to a few more decimals than the bounds: one expression per
 * number of decimals.
 */
export function numbersWithin(bounds: NumberBounds): Expression[] {
  const given = Object.values(bounds as unknown as Record<string, number>).filter(Number.isFinite);
  const most = Math.max(0, ...given.map((value) => parseDecimal(value).decimals));
  const count = Math.min(MAX_DECIMALS, most + EXTRA_DECIMALS);
  return Array.from({ length: count + 1 }, (_, decimals) => withDecimals(bounds, decimals));
}

function withDecimals(bounds: NumberBounds, decimals: number): Expression {
  const least = (value: number, isExcluded: boolean) => {
    if (value === -Infinity) return -LARGEST;
    const { floor, isExact } = scaled(value, decimals);
    return isExact && !isExcluded ? floor : floor + 1n;
  };
  const most = (value: number, isExcluded: boolean) => {
    if (value === Infinity) return LARGEST;
    const { floor, isExact } = scaled(value, decimals);
    return isExact && isExcluded ? floor - 1n : floor;
  };
  const low = maxOf(-LARGEST, least(bounds.minimum, false), least(bounds.exclusiveMinimum, true));
  const high = minOf(LARGEST, most(bounds.maximum, false), most(bounds.exclusiveMaximum, true));
  const negative = positives(maxOf(1n, -high), -low, decimals);
  return choice(sequence(text("-"), negative), positives(maxOf(0n, low), high, decimals));
}

/** low..high, not negative, with a point before the last `decimals` digits. */
function positives(low: bigint, high: bigint, decimals: number): Expression {
  const options: Expression[] = [];
  /** Widths at which every number is within the range. */
  const whole: number[] = [];
  // The narrowest numbers have one digit before the point, which may be a zero.
  let first = 0n;
  for (let width = decimals + 1; first <= high; width++) {
    const last = 10n ** BigInt(width) - 1n;
    const from = maxOf(low, first);
    const to = minOf(high, last);
    if (from === first && to === last && width > decimals + 1) {
      whole.push(width - decimals);
    } else if (from <= to) {
      const digits = (value: bigint) => Array.from(value.toString().padStart(width, "0"), Number);
      options.push(between(digits(from), digits(to), width - decimals));
    }
    first = last + 1n;
  }
  const [least] = whole;
  if (least !== undefined) {
    const more = repeat(digit(0, 9), least - 1, least - 2 + whole.length);
    options.push(sequence(digit(1, 9), more, fraction(decimals)));
  }
  return options.length === 0 ? IMPOSSIBLE : choice(...options);
}

function fraction(decimals: number): Expression {
  return decimals === 0 ? NOTHING : sequence(text("."), repeat(digit(0, 9), decimals, decimals));
}

/**
 * Returns the numbers from `low` to `high`, which have the same width.
 * @param point number of digits before the decimal point
 */
function between(low: readonly number[], high: readonly number[], point: number): Expression {
  const [firstLow = 0, ...restLow] = low;
  const [firstHigh = 0, ...restHigh] = high;
  if (low.length === 0) return NOTHING;
  const dot = point === 0 ? [text(".")] : [];
  const from = (first: number, last: number, rest: Expression) => sequence(...dot, digit(first, last), rest);
  const next = point === 0 ? -1 : point - 1;
  const zeros = restLow.map(() => 0);
  const nines = restLow.map(() => 9);
  if (firstLow === firstHigh) return from(firstLow, firstLow, between(restLow, restHigh, next));
  if (restLow.every((value) => value === 0) && restHigh.every((value) => value === 9)) {
    return from(firstLow, firstHigh, anyDigits(restLow.length, next));
  }
  return choice(
    from(firstLow, firstLow, between(restLow, nines, next)),
    ...(firstHigh - firstLow > 1 ? [from(firstLow + 1, firstHigh - 1, anyDigits(restLow.length, next))] : []),
    from(firstHigh, firstHigh, between(zeros, restHigh, next)),
  );
}

function anyDigits(count: number, point: number): Expression {
  if (point < 0 || point >= count) return repeat(digit(0, 9), count, count);
  return sequence(repeat(digit(0, 9), point, point), fraction(count - point));
}

function digit(first: number, last: number): Expression {
  return first === last ? text(String(first)) : character(normalized([[0x30 + first, 0x30 + last]]));
}

/** Returns the largest multiple of 10^-decimals that is not above the value, and whether it equals the value. */
function scaled(value: number, decimals: number): { floor: bigint; isExact: boolean } {
  const { digits, decimals: own } = parseDecimal(value);
  if (own <= decimals) return { floor: digits * 10n ** BigInt(decimals - own), isExact: true };
  const unit = 10n ** BigInt(own - decimals);
  const rest = ((digits % unit) + unit) % unit;
  return { floor: (digits - rest) / unit, isExact: rest === 0n };
}

/** Returns the shortest decimal of a double. */
function parseDecimal(value: number): Decimal {
  const [mantissa = "", exponent = "0"] = String(value).split("e");
  const [whole = "", behindPoint = ""] = mantissa.split(".");
  const shift = Number(exponent) - behindPoint.length;
  const digits = BigInt(whole + behindPoint);
  return shift >= 0 ? { digits: digits * 10n ** BigInt(shift), decimals: 0 } : { digits, decimals: -shift };
}

const maxOf = (...values: readonly bigint[]): bigint => values.reduce((a, b) => (a > b ? a : b));
const minOf = (...values: readonly bigint[]): bigint => values.reduce((a, b) => (a < b ? a : b));
