/** A set of characters: ranges of code points, both ends included, in order and apart. Never a surrogate. */
export type CharSet = readonly (readonly [first: number, last: number])[];

const LAST = 0x10ffff;

export const ANY_CHARACTER: CharSet = normalized([[0, LAST]]);

/** Returns the set of ranges that may overlap and be in any order. */
export function normalized(ranges: CharSet): CharSet {
  const whole = ranges
    .flatMap(([first, last]) => [[first, Math.min(last, 0xd7ff)] as const, [Math.max(first, 0xe000), last] as const])
    .filter(([first, last]) => first <= last)
    .toSorted((a, b) => a[0] - b[0]);
  const result: [number, number][] = [];
  for (const [first, last] of whole) {
    const before = result.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else result.push([first, last]);
  }
  return result;
}

export function charSetOf(characters: string): CharSet {
  return normalized(Array.from(characters, (character) => [codePoint(character), codePoint(character)]));
}

export function union(...sets: readonly CharSet[]): CharSet {
  return normalized(sets.flat());
}

export function complement(set: CharSet): CharSet {
  const gaps: [number, number][] = [];
  let next = 0;
  for (const [first, last] of set) {
    gaps.push([next, first - 1]);
    next = last + 1;
  }
  return normalized([...gaps, [next, LAST]]);
}

export function intersection(a: CharSet, b: CharSet): CharSet {
  return complement(union(complement(a), complement(b)));
}

/** Cuts ranges where any begins or ends. Returns the pieces in order, each with the ranges that it is a part of. */
export function pieces<Range extends { readonly first: number; readonly last: number }>(ranges: readonly Range[]) {
  const cuts = [...new Set(ranges.flatMap(({ first, last }) => [first, last + 1]))].toSorted((a, b) => a - b);
  const inOrder = ranges.toSorted((a, b) => a.first - b.first);
  let of: readonly Range[] = [];
  let numBegun = 0;
  return cuts.flatMap((first, i) => {
    const before = numBegun;
    while (inOrder[numBegun]?.first === first) numBegun += 1;
    of = [...of.filter(({ last }) => last >= first), ...inOrder.slice(before, numBegun)];
    return of.length > 0 ? [{ first, last: (cuts[i + 1] ?? 0) - 1, of }] : [];
  });
}

export function codePoint(character: string): number {
  return character.codePointAt(0) ?? 0;
}
