/** Returns uniform numbers in [0, 1), the same for the same seed. */
export type Random = () => number;

/** A Weyl sequence through a 32-bit mixer: good enough for arrivals, prompts and weights. */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x9e3779b9) >>> 0;
    let x = state;
    x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
    x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
    return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
  };
}

/** Returns random integers in [from, to]. */
export function randomIntegers(random: Random, count: number, from: number, to: number): number[] {
  return Array.from({ length: count }, () => from + Math.floor(random() * (to - from + 1)));
}
