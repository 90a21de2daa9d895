// The random numbers of draws, as shaders/lib/random.wgsl makes them.

type Pair = readonly [number, number];

const ROTATIONS = [
  [13, 15, 26, 6],
  [17, 29, 16, 24],
] as const;

/** Returns Threefry-2x32 of 20 rounds. */
export function threefry(key: Pair, counter: Pair): Pair {
  const keys = [key[0], key[1], (0x1bd11bda ^ key[0] ^ key[1]) >>> 0];
  const part = (i: number) => keys[i % 3] ?? 0;
  let x = (counter[0] + key[0]) >>> 0;
  let y = (counter[1] + key[1]) >>> 0;
  for (let i = 1; i < 6; i++) {
    for (const bits of i % 2 === 1 ? ROTATIONS[0] : ROTATIONS[1]) {
      x = (x + y) >>> 0;
      y = (((y << bits) | (y >>> (32 - bits))) ^ x) >>> 0;
    }
    x = (x + part(i)) >>> 0;
    y = (y + part(i + 1) + i) >>> 0;
  }
  return [x, y];
}

/** Returns the standard Gumbel number of a key (the seed) and a counter (the output's index and the token). */
export function gumbel(key: Pair, counter: Pair): number {
  return -Math.log(-Math.log(((threefry(key, counter)[0] >>> 9) + 0.5) * 2 ** -23));
}
