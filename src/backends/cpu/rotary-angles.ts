// Rotary tables with the same bits in every engine: Math.cos and Math.sin may differ in their last bit from one to the next.

import { frequenciesFor, queryFactor, type RotaryAngles } from "../../models/graph.ts";

/** pi / 2 in two parts: the first has 33 bits, so that a small integer times it is exact. */
const HALF_PI_HIGH = 1.5707963267341256;
const HALF_PI_LOW = 6.077100506506192e-11;

/** sin(r) = r + r^3 P(r^2) and cos(r) = 1 + r^2 P(r^2) for |r| <= pi / 4: Taylor's, below 1e-15. */
const SIN_TERMS = [3, 5, 7, 9, 11, 13, 15, 17];
const COS_TERMS = [2, 4, 6, 8, 10, 12, 14, 16];

/** Returns cosine and sine in float64, computed by sums and products; error below 1e-14 for angles below 1e6. */
export function cosSin(angle: number): readonly [cos: number, sin: number] {
  const quarter = Math.round(angle / (Math.PI / 2));
  const rest = angle - quarter * HALF_PI_HIGH - quarter * HALF_PI_LOW;
  const sin = series(rest, rest, SIN_TERMS);
  const cos = series(1, rest, COS_TERMS);
  switch (((quarter % 4) + 4) % 4) {
    case 0:
      return [cos, sin];
    case 1:
      return [-sin, cos];
    case 2:
      return [-cos, -sin];
    default:
      return [sin, -cos];
  }
}

/** Returns first - first x^2 / (n (n - 1)) + ..., the terms x^n / n! with alternating signs. */
function series(first: number, x: number, exponents: readonly number[]): number {
  const square = x * x;
  let term = first;
  let sum = first;
  for (const n of exponents) {
    term = (-term * square) / (n * (n - 1));
    sum += term;
  }
  return sum;
}

/**
 * Returns [positions] of cos [headSize / 2], sin [headSize / 2], for queries or for keys.
 * @param maxModelLen decides on frequencies, also where the cache has room for fewer tokens
 */
export function rotaryTable(
  angles: RotaryAngles,
  positions: number,
  of: "queries" | "keys" = "keys",
  maxModelLen = positions,
): Float32Array<ArrayBuffer> {
  const frequencies = frequenciesFor(angles, maxModelLen);
  const half = frequencies.length;
  const table = new Float32Array(2 * half * positions);
  for (let position = 0; position < positions; position++) {
    const factor = of === "queries" ? queryFactor(angles, position) : 1;
    frequencies.forEach((frequency, i) => {
      const scaling = frequency === 0 ? factor : factor * angles.scaling;
      // Powers may differ between engines, too; rounded to f32 they do not.
      const [cos, sin] = cosSin(position * Math.fround(frequency));
      table[2 * half * position + i] = scaling * cos;
      table[2 * half * position + half + i] = scaling * sin;
    });
  }
  return table;
}
