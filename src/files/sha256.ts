// Incremental SHA-256 (FIPS 180-4). The browser's digest() needs all bytes at once, and a model's weights are too large for
// that.

/** Returns the first 32 bits of the fractional parts of the square (2) or cube (3) roots of the first primes, exactly. */
function fractionsOfRoots(root: 2 | 3, count: number): Uint32Array {
  const words = new Uint32Array(count);
  for (let candidate = 2n, found = 0; found < count; candidate++) {
    if (!isPrime(candidate)) continue;
    // floor(2^32 * root(p)) is the integer root of p * 2^(32 * root); its low 32 bits are the fraction.
    words[found++] = Number(BigInt.asUintN(32, integerRoot(candidate << BigInt(32 * root), BigInt(root))));
  }
  return words;
}

function isPrime(candidate: bigint): boolean {
  for (let divisor = 2n; divisor * divisor <= candidate; divisor++) if (candidate % divisor === 0n) return false;
  return true;
}

function integerRoot(value: bigint, root: bigint): bigint {
  let [low, high] = [0n, 1n << 40n];
  while (high - low > 1n) {
    const middle = (low + high) >> 1n;
    if (middle ** root <= value) low = middle;
    else high = middle;
  }
  return low;
}

const INITIAL_STATE = fractionsOfRoots(2, 8);
const ROUND_CONSTANTS = fractionsOfRoots(3, 64);
const BLOCK_BYTES = 64;

export class Sha256 {
  readonly #state = INITIAL_STATE.slice();
  readonly #schedule = new Int32Array(64);
  /** The bytes of an incomplete block. */
  readonly #partial = new Uint8Array(BLOCK_BYTES);
  #partialBytes = 0;
  #totalBytes = 0;

  update(bytes: Uint8Array): this {
    this.#totalBytes += bytes.length;
    let at = 0;
    if (this.#partialBytes > 0) {
      at = Math.min(BLOCK_BYTES - this.#partialBytes, bytes.length);
      this.#partial.set(bytes.subarray(0, at), this.#partialBytes);
      this.#partialBytes += at;
      if (this.#partialBytes < BLOCK_BYTES) return this;
      this.#block(this.#partial, 0);
      this.#partialBytes = 0;
    }
    for (; at + BLOCK_BYTES <= bytes.length; at += BLOCK_BYTES) this.#block(bytes, at);
    this.#partial.set(bytes.subarray(at));
    this.#partialBytes = bytes.length - at;
    return this;
  }

  /** Returns the hash in hexadecimal. No bytes may be added afterwards. */
  hex(): string {
    const bits = BigInt(this.#totalBytes) * 8n;
    const padding = new Uint8Array((this.#partialBytes < 56 ? 56 : 120) - this.#partialBytes + 8);
    padding[0] = 0x80;
    new DataView(padding.buffer).setBigUint64(padding.length - 8, bits);
    this.update(padding);
    return [...this.#state].map((word) => word.toString(16).padStart(8, "0")).join("");
  }

  #block(bytes: Uint8Array, at: number): void {
    const w = this.#schedule;
    const state = this.#state;
    for (let i = 0, byte = at; i < 16; i++, byte += 4) {
      w[i] =
        ((bytes[byte] ?? 0) << 24) |
        ((bytes[byte + 1] ?? 0) << 16) |
        ((bytes[byte + 2] ?? 0) << 8) |
        (bytes[byte + 3] ?? 0);
    }
    for (let i = 16; i < 64; i++) {
      const x = w[i - 15] ?? 0;
      const y = w[i - 2] ?? 0;
      const s0 = rotate(x, 7) ^ rotate(x, 18) ^ (x >>> 3);
      const s1 = rotate(y, 17) ^ rotate(y, 19) ^ (y >>> 10);
      w[i] = ((w[i - 16] ?? 0) + s0 + (w[i - 7] ?? 0) + s1) | 0;
    }
    let [a = 0, b = 0, c = 0, d = 0, e = 0, f = 0, g = 0, h = 0] = state;
    for (let i = 0; i < 64; i++) {
      const s1 = rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25);
      const t1 = (h + s1 + ((e & f) ^ (~e & g)) + (ROUND_CONSTANTS[i] ?? 0) + (w[i] ?? 0)) | 0;
      const s0 = rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22);
      const t2 = (s0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      h = g;
      g = f;
      f = e;
      e = (d + t1) | 0;
      d = c;
      c = b;
      b = a;
      a = (t1 + t2) | 0;
    }
    state.set([a, b, c, d, e, f, g, h].map((word, i) => (state[i] ?? 0) + word));
  }
}

function rotate(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
