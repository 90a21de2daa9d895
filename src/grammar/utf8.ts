import type { CharSet } from "./char-set.ts";

/** Bytes that may stand in one place, both ends inclusive. */
export type ByteRange = readonly [first: number, last: number];

/** The last characters of 1, 2 and 3 bytes. */
const LAST_OF_LENGTH = [0x7f, 0x7ff, 0xffff];
/** The bits of a character in its last byte, its last two and its last three. */
const LAST_BITS = [0x3f, 0xfff, 0x3ffff];

const ENCODER = new TextEncoder();

/** Returns the UTF-8 of a set's characters: sequences of byte ranges. */
export function utf8Sequences(set: CharSet): ByteRange[][] {
  return set.flatMap(([first, last]) => between(first, last));
}

/** Cuts the range until each of its bytes may be any of a range, whatever the others are. */
function between(first: number, last: number): ByteRange[][] {
  const [from, to] = [first, last].map((point) => ENCODER.encode(String.fromCodePoint(point)));
  const ends = [
    ...LAST_OF_LENGTH,
    ...LAST_BITS.slice(0, (from?.length ?? 1) - 1)
      .filter((bits) => (first | bits) < last)
      .map((bits) => ((first & bits) === 0 ? ((last + 1) & ~bits) - 1 : first | bits)),
  ];
  const cut = ends.find((end) => first <= end && end < last);
  if (cut !== undefined) return [...between(first, cut), ...between(cut + 1, last)];
  return [Array.from(from ?? [], (byte, i) => [byte, to?.[i] ?? byte])];
}
