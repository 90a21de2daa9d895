import type { CharSet } from "./char-set.ts";

/** Bytes that may stand in one place, both ends inclusive. */
export type ByteRange = readonly [first: number, last: number];

/** The last characters of 1, 2, 3 and 4 bytes. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff, 0x10ffff];

/** Returns the UTF-8 of a set's characters: sequences of byte ranges. */
export function utf8Sequences(set: CharSet): ByteRange[][] {
  return set.flatMap(([first, last]) => {
    const found: ByteRange[][] = [];
    let from = first;
    for (const end of LAST_OF_LENGTH) {
      if (from > last) break;
      if (from > end) continue;
      found.push(...between(bytesOf(from), bytesOf(Math.min(end, last))));
      from = end + 1;
    }
    return found;
  });
}

/** Returns all sequences from `low` to `high`, which have the same length. */
function between([low = 0, ...lowRest]: readonly number[], [high = 0, ...highRest]: readonly number[]): ByteRange[][] {
  if (lowRest.length === 0) return [[[low, high]]];
  const least = lowRest.map(() => 0x80);
  const most = lowRest.map(() => 0xbf);
  const all = (first: number, last: number): ByteRange[] => [
    [first, last],
    ...least.map((): ByteRange => [0x80, 0xbf]),
  ];
  const under = (first: number, from: readonly number[], to: readonly number[]) =>
    between(from, to).map((rest): ByteRange[] => [[first, first], ...rest]);
  if (low === high) return under(low, lowRest, highRest);
  const isWholeLow = lowRest.every((byte) => byte === 0x80);
  const isWholeHigh = highRest.every((byte) => byte === 0xbf);
  const middle = [isWholeLow ? low : low + 1, isWholeHigh ? high : high - 1] as const;
  return [
    ...(isWholeLow ? [] : under(low, lowRest, most)),
    ...(middle[0] <= middle[1] ? [all(...middle)] : []),
    ...(isWholeHigh ? [] : under(high, least, highRest)),
  ];
}

function bytesOf(point: number): number[] {
  const last = (shift: number) => 0x80 | ((point >> shift) & 0x3f);
  if (point < 0x80) return [point];
  if (point < 0x800) return [0xc0 | (point >> 6), last(0)];
  if (point < 0x10000) return [0xe0 | (point >> 12), last(6), last(0)];
  return [0xf0 | (point >> 18), last(12), last(6), last(0)];
}
